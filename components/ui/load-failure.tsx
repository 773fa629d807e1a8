"use client";

import { RotateCw } from "lucide-react";
import { errorBodyOf, isMissing } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";

interface LoadFailureProps {
  query: { error: unknown; refetch: () => unknown };
}

/** In place of something that could not be loaded: why, and where that may help, the way to try again. Nothing while there is no error. */
export function LoadFailure({ query: { error, refetch } }: LoadFailureProps) {
  if (!error) return null;
  const { detail, status } = errorBodyOf(error);
  // What is not there, or not for this person, will not come by asking again.
  const again = !isMissing(error) && status !== 403 && (
    <Button size="sm" icon={<RotateCw />} onClick={() => void refetch()}>
      Try again
    </Button>
  );
  return (
    <Notice tone="failed" actions={again}>
      {detail}
    </Notice>
  );
}
