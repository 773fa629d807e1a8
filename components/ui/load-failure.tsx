"use client";

import { RotateCw } from "lucide-react";
import { errorBodyOf } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";

/** In place of something that could not be loaded: why, and the way to try again. */
export function LoadFailure({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return (
    <Notice
      tone="failed"
      actions={
        <Button size="sm" icon={<RotateCw />} onClick={onRetry}>
          Try again
        </Button>
      }
    >
      {errorBodyOf(error).detail}
    </Notice>
  );
}
