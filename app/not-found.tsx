import type { Metadata } from "next";
import { Logo } from "#components/shell/logo.tsx";
import { Button } from "#components/ui/button.tsx";
import { Link } from "#components/ui/link.tsx";

export const metadata: Metadata = { title: "Not found" };

export default function NotFoundPage() {
  return (
    <main className="woven relative flex min-h-dvh flex-col items-center justify-center gap-6 px-4">
      <Logo className="text-18 [&>svg]:size-7" />
      <div className="flex w-full max-w-100 flex-col gap-4 rounded-lg border border-line-strong bg-raised p-7 shadow-md">
        <div className="flex flex-col gap-1">
          <h1 className="font-semibold text-24">There is no such page</h1>
          <p className="text-14 text-ink-soft">The address may be mistyped, or the page has moved.</p>
        </div>
        <Button asChild variant="primary" size="lg">
          <Link href="/">Go home</Link>
        </Button>
      </div>
    </main>
  );
}
