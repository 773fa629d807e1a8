import type { ReactNode } from "react";
import { server } from "#app/server.ts";
import { SecureAddress } from "#components/entry/secure-address.tsx";
import { Logo } from "#components/shell/logo.tsx";
import { ApiProvider } from "#components/trpc.tsx";

export default async function EntryLayout({ children }: { children: ReactNode }) {
  const url = (await server()).secureUrl();
  return (
    <ApiProvider projectId={null}>
      <div className="woven relative flex min-h-dvh flex-col items-center justify-center gap-6 px-4 py-10">
        <header>
          <Logo className="text-18 [&>svg]:size-7" />
        </header>
        <main className="w-full max-w-100 has-data-wide:max-w-168 rounded-lg border border-line-strong bg-raised p-7 shadow-md max-sm:p-5">
          {url !== null && <SecureAddress url={url} />}
          {children}
        </main>
      </div>
    </ApiProvider>
  );
}
