"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "#components/trpc.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { useDebounced } from "#components/ui/use-debounced.ts";

const TYPING_MS = 500;

/** Says that an address gets no emails, where its person has stopped them or has not confirmed the first one. */
export function EmailStanding({ address }: { address: unknown }) {
  const trpc = useTRPC();
  const typed = useDebounced(typeof address === "string" ? address.trim() : "", TYPING_MS);
  const { data } = useQuery(trpc.emails.recipient.queryOptions({ address: typed }, { enabled: typed.includes("@") }));
  if (!typed.includes("@") || !data || data.state === "open") return null;
  return (
    <Notice
      tone="waiting"
      title={data.state === "stopped" ? `${typed} has stopped emails of this project` : `${typed} has not confirmed yet`}
    >
      {data.state === "stopped"
        ? "The person gets no emails about reviews, and can resume them with the link in an earlier email."
        : "The person got one email with a link that confirms the address. Further ones are held back until then."}
    </Notice>
  );
}
