"use client";

import { useQuery } from "@tanstack/react-query";
import type { z } from "zod";
import { useTRPC } from "#components/trpc.tsx";
import type { CredentialPage } from "#server/features/credentials/schema.ts";

const FRESH_MS = 60_000;

/** All of them, or nothing when there are more than one page holds: then only the server can tell what is missing. */
const namesOf = ({ items, total }: z.infer<typeof CredentialPage>): string[] | undefined =>
  items.length < total ? undefined : items.map(({ name }) => name).sort();

/** Names of the project's credentials; undefined while they are not known. */
export function useCredentialNames(): readonly string[] | undefined {
  const trpc = useTRPC();
  const options = { select: namesOf, staleTime: FRESH_MS, refetchOnWindowFocus: "always" } as const;
  return useQuery(trpc.credentials.list.queryOptions({ per_page: 200 }, options)).data;
}
