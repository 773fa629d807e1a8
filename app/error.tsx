"use client";

import { CrashNotice } from "#components/shell/crash-notice.tsx";

export default function RootError({ error, reset }: { error: Error & { digest?: string }; reset: () => void }) {
  return (
    <main>
      <CrashNotice digest={error.digest} onRetry={reset} />
    </main>
  );
}
