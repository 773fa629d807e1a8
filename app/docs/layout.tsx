import type { Metadata } from "next";
import Form from "next/form";
import type { ReactNode } from "react";
import { DocsNavigation } from "#app/docs/navigation.tsx";
import { nodePages } from "#app/docs/nodes/node-example.ts";
import { Logo } from "#components/shell/logo.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { Input } from "#components/ui/input.tsx";
import { Link } from "#components/ui/link.tsx";
import { thumbRoom } from "#components/ui/styles.ts";

export const metadata: Metadata = { title: { default: "Guide", template: "%s · Treadle guide" } };

export default function DocsLayout({ children }: { children: ReactNode }) {
  return (
    <div className="min-h-dvh">
      <header className="sticky top-0 z-20 flex h-14 items-center justify-between gap-4 border-b bg-paper px-6 max-md:px-4">
        <Link href="/docs" className={cn("flex items-center gap-2 rounded-sm", thumbRoom)}>
          <Logo />
          <span className="border-l border-line-strong pl-2 text-14 text-ink-soft">Guide</span>
        </Link>
        <Form action="/docs/search" prefetch={false} role="search" className="min-w-0 flex-1 md:max-w-80">
          <Input type="search" name="q" aria-label="Search the guide" placeholder="Search the guide" maxLength={200} />
        </Form>
        <Button asChild size="sm" className="max-sm:hidden">
          <Link href="/">Open Treadle</Link>
        </Button>
      </header>
      <div className="mx-auto grid max-w-320 gap-x-10 px-6 max-md:px-4 md:grid-cols-[180px_minmax(0,1fr)]">
        <DocsNavigation nodes={nodePages.map(({ href, label }) => ({ href, label }))} />
        <main className="min-w-0 py-8">{children}</main>
      </div>
    </div>
  );
}
