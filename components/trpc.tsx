"use client";

import { MutationCache, QueryCache, QueryClient, QueryClientProvider, useQueryClient } from "@tanstack/react-query";
import { createTRPCClient, httpBatchLink, splitLink, TRPCClientError } from "@trpc/client";
import { createTRPCContext } from "@trpc/tanstack-react-query";
import { type ReactNode, useState } from "react";
import type { AppRouter } from "#server/http/trpc/root.ts";
import type { ErrorBody } from "#server/shared/error-schema.ts";
import { MOST_CALLS } from "#server/shared/most-calls.ts";

const { TRPCProvider, useTRPC, useTRPCClient } = createTRPCContext<AppRouter>();

export { useTRPC, useTRPCClient };

/** The server's API: `trpc` makes queries and mutations for their hooks, `client` calls, `cache` keeps what was read. */
export const useApi = () => ({ trpc: useTRPC(), client: useTRPCClient(), cache: useQueryClient() });

/** Something that did not come as far as the server, with the reason in words for people. */
export class UserError extends Error {}

/** What the server's formatter of errors wrote, if it did; looked at by hand, since every page would load zod for it. */
export const errorBodyIn = (data: unknown): ErrorBody | undefined =>
  typeof data === "object" && data !== null && ["detail", "error_code", "status"].every((name) => name in data)
    ? (data as ErrorBody) // cast: nothing else has these
    : undefined;

/** What the server said about a failed call; one sentence of our own when it could not be reached. */
export function errorBodyOf(error: unknown): ErrorBody {
  const said = error instanceof TRPCClientError ? errorBodyIn(error.data) : undefined;
  if (said) return said;
  const detail = error instanceof UserError ? error.message : "The service cannot be reached. Check your connection and try again.";
  return { detail, error_code: "INTERNAL_ERROR", status: 0 };
}

/** Whether what was asked for is not there, or cannot be: no such id, or none that an id looks like. Asking again does not help. */
export const isMissing = (error: unknown): boolean => [404, 422].includes(errorBodyOf(error).status);

/** Sends a visitor whose session ended to the sign-in page, and back here afterwards. */
function leaveWhenSignedOut(error: unknown): void {
  if (errorBodyOf(error).error_code !== "AUTH_REQUIRED") return;
  if (!location.pathname.startsWith("/sign-in"))
    location.assign(`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`);
}

const isWorthRetrying = (count: number, error: unknown): boolean => {
  const { status } = errorBodyOf(error);
  return count < 2 && (status === 0 || status === 429 || status === 500 || status === 503);
};

/**
 * Gives the components below the typed client (`useTRPC`, `useTRPCClient`).
 * @param projectId project that every call is made in (X-Project-ID); null on pages without one
 */
export function ApiProvider({ projectId, children }: { projectId: string | null; children: ReactNode }) {
  const [queryClient] = useState(
    () =>
      new QueryClient({
        queryCache: new QueryCache({ onError: leaveWhenSignedOut }),
        mutationCache: new MutationCache({ onError: leaveWhenSignedOut }),
        defaultOptions: { queries: { staleTime: 5_000, retry: isWorthRetrying }, mutations: { retry: false } },
      }),
  );
  const [trpcClient] = useState(() => {
    const door = { url: "/api/trpc", headers: () => (projectId ? { "X-Project-ID": projectId } : {}) };
    return createTRPCClient<AppRouter>({
      links: [
        splitLink({
          // What is checked while one types may be longer than an address can be.
          condition: ({ path }) => path.startsWith("checks.") || path === "agents.promptPreview" || path === "canvases.preview",
          true: httpBatchLink({ ...door, methodOverride: "POST", maxItems: MOST_CALLS }),
          false: httpBatchLink({ ...door, maxURLLength: 2000, maxItems: MOST_CALLS }),
        }),
      ],
    });
  });
  return (
    <QueryClientProvider client={queryClient}>
      <TRPCProvider trpcClient={trpcClient} queryClient={queryClient}>
        {children}
      </TRPCProvider>
    </QueryClientProvider>
  );
}
