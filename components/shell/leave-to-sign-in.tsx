"use client";

import { useEffect } from "react";
import { Spinner } from "#components/ui/spinner.tsx";

/** Goes to the sign-in page, which comes back here. On the client, because a layout does not know the page's address. */
export function LeaveToSignIn() {
  useEffect(() => {
    const here = location.pathname + location.search;
    location.replace(here === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(here)}`);
  }, []);
  return (
    <main className="grid h-dvh place-items-center text-ink-faint">
      <Spinner label="Opening the sign-in page" className="size-5" />
    </main>
  );
}
