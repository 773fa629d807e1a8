"use client";

import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { usePathname } from "next/navigation";
import { plural } from "#components/format.ts";
import { useTRPC } from "#components/trpc.tsx";
import { Link } from "#components/ui/link.tsx";

const PAGE = "/settings/put-aside";

/** Says on all other pages that projects were put aside when the address was verified, until each is left or taken over. */
export function PutAsideBanner() {
  const trpc = useTRPC();
  const path = usePathname();
  const own = useQuery(trpc.identity.invitations.queryOptions({}, { staleTime: 60_000 }));
  const count = own.data?.put_aside ?? 0;
  if (count === 0 || path === PAGE) return null;
  return (
    <section
      aria-label="Put aside"
      className="flex flex-wrap items-center gap-x-4 gap-y-1.5 border-b bg-waiting-soft px-4 py-2 text-14 text-ink"
    >
      <TriangleAlert aria-hidden className="-mr-1.5 size-3.5 shrink-0 text-waiting max-sm:hidden" />
      <p className="min-w-0 break-words">
        {plural(count, "project")} from before your address was verified {count === 1 ? "was" : "were"} put aside, because someone else may
        have created this account.{" "}
        <Link href={PAGE} className="underline">
          Review
        </Link>
      </p>
    </section>
  );
}
