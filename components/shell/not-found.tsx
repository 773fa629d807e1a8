"use client";

import { Page } from "#components/shell/page.tsx";
import { Button } from "#components/ui/button.tsx";
import { Link } from "#components/ui/link.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";

/** In place of a resource that is not in this project, or not any more. */
export function NotFound({ what, href }: { what: string; href: string }) {
  return (
    <Page>
      <PageHeader
        title={`There is no such ${what}`}
        description="It may have been deleted, or it belongs to another project: switch projects at the top of the navigation."
      />
      <Button asChild className="self-start">
        <Link href={href}>Show all {what}s</Link>
      </Button>
    </Page>
  );
}
