"use client";

import { useSyncExternalStore } from "react";
import { Link } from "#components/ui/link.tsx";
import { Notice } from "#components/ui/notice.tsx";

const never = () => () => {};

/**
 * Says that no session can be opened where the page was loaded over HTTP and the install is meant to be reached over HTTPS: browsers
 * drop its cookies there. The browser alone knows, since a proxy may speak HTTP to the server.
 */
export function SecureAddress({ url }: { url: string }) {
  const isInsecure = useSyncExternalStore(
    never,
    () => location.protocol === "http:",
    () => false,
  );
  if (!isInsecure) return null;
  return (
    <Notice tone="failed" title="Sign-in does not work at this address" className="mb-4">
      This page was opened over HTTP. The address of this install is HTTPS, and browsers keep its cookies there only. Open{" "}
      <Link href={url} className="underline underline-offset-2">
        {url}
      </Link>{" "}
      instead.
    </Notice>
  );
}
