"use client";

import { CrashNotice } from "#components/shell/crash-notice.tsx";

export default function StudioError({ error, reset }: { error: Error & { digest?: string }; reset: () => void }) {
  return <CrashNotice digest={error.digest} onRetry={reset} />;
}
