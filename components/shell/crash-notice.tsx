"use client";

import { RotateCw } from "lucide-react";
import { Page } from "#components/shell/page.tsx";
import { Button } from "#components/ui/button.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";

/** In place of a page that broke. A module of its own, since every page loads it with its own script. */
export function CrashNotice({ digest, onRetry }: { digest: string | undefined; onRetry: () => void }) {
  return (
    <Page>
      <EmptyState
        title="A thread broke on this page"
        actions={
          <>
            <Button variant="primary" icon={<RotateCw />} onClick={onRetry}>
              Try again
            </Button>
            <Button variant="ghost" onClick={() => location.assign("/")}>
              Go home
            </Button>
          </>
        }
      >
        Something in it went wrong. What was saved is safe.
        {digest !== undefined && (
          <>
            {" "}
            For a report, the log line is <code className="font-mono text-12">{digest}</code>.
          </>
        )}
      </EmptyState>
    </Page>
  );
}
