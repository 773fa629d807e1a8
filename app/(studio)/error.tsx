"use client";

import { CrashNotice } from "#components/shell/notices.tsx";

export default function StudioError({ error, reset }: { error: Error & { digest?: string }; reset: () => void }) {
  return <CrashNotice digest={error.digest} onRetry={reset} />;
}
