import type { ReactNode } from "react";
import { BackLink } from "#components/shell/back-link.tsx";
import { NotFound } from "#components/shell/not-found.tsx";
import { Page } from "#components/shell/page.tsx";
import { isMissing } from "#components/trpc.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Spinner } from "#components/ui/spinner.tsx";

interface FullPageLoadingProps {
  query: { error: unknown; refetch: () => Promise<unknown> };
  /** The list that the page belongs to: the way out when it cannot be loaded. */
  back: { href: string; label: string };
  /** What is shown, and where all of those are: said when there is no such one. */
  missing: { what: string; href: string };
  children: ReactNode;
}

/** In place of a page that fills the window, such as the editor: that it is loading, or why it could not be. */
export function FullPageLoading({ query, back, missing, children }: FullPageLoadingProps) {
  if (query.error && isMissing(query.error)) return <NotFound {...missing} />;
  if (query.error)
    return (
      <Page width="narrow">
        <BackLink href={back.href}>{back.label}</BackLink>
        <LoadFailure query={query} />
      </Page>
    );
  return (
    <div role="status" className="flex h-full items-center justify-center gap-2 text-14 text-ink-soft">
      <Spinner /> {children}
    </div>
  );
}
