"use client";

import { Page } from "#components/shell/page.tsx";
import { Button } from "#components/ui/button.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { Link } from "#components/ui/link.tsx";

/** In place of a resource that is not in this project, or not any more. */
export function NotFound({ what, href }: { what: string; href: string }) {
  return (
    <Page>
      <EmptyState
        title={`There is no such ${what}`}
        actions={
          <Button asChild>
            <Link href={href}>Show all {what}s</Link>
          </Button>
        }
      >
        It may have been deleted, or it belongs to another project: switch projects at the top of the navigation.
      </EmptyState>
    </Page>
  );
}
