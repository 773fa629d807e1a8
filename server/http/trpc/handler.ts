import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { MAX_PUBLIC_BODY_BYTES, readBytes } from "#server/http/messages/read-json.ts";
import { loggedErrorResponse } from "#server/http/messages/respond.ts";
import { textResponse } from "#server/http/messages/text-response.ts";
import { createContext, isReading } from "#server/http/trpc/context.ts";
import { appRouter } from "#server/http/trpc/root.ts";
import { parseApiJson } from "#server/platform/clean-text.ts";
import { DeferredTexts } from "#server/platform/deferred-texts.ts";
import { AppError } from "#server/platform/errors.ts";
import { budgetOf } from "#server/platform/net/client-address.ts";
import { type ApiContext, appErrorOf } from "#server/platform/rpc/trpc.ts";
import { settings } from "#server/platform/settings.ts";
import { JsonTooComplex } from "#server/shared/json-depth.ts";
import { MOST_CALLS } from "#server/shared/most-calls.ts";

/** Of the setting RATE_LIMIT_WEB, which is for one address: what one person may call, and an address where nobody is signed in. */
const PERSON_SHARE = 0.4;
const STRANGER_SHARE = 0.1;

const limiters = new Map<number, RateLimiterMemory>();

function limiterOf(points: number): RateLimiterMemory {
  let limiter = limiters.get(points);
  if (!limiter) {
    limiter = new RateLimiterMemory({ points, duration: 60 });
    limiters.set(points, limiter);
  }
  return limiter;
}

/**
 * Counts calls of the web app, each of those that come together. All sessions of a person count as one; each process counts
 * its own.
 * @throws AppError RATE_LIMIT_EXCEEDED
 */
export async function countCalls({ principal, address }: ApiContext, calls: number): Promise<void> {
  const { RATE_LIMIT_WEB } = settings();
  if (RATE_LIMIT_WEB === 0) return;
  const points = Math.ceil(RATE_LIMIT_WEB * (principal ? PERSON_SHARE : STRANGER_SHARE));
  try {
    await limiterOf(points).consume(principal ? `person ${principal.user.id}` : `address ${budgetOf(address)}`, calls);
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    const retryAfter = Math.max(1, Math.ceil(refused.msBeforeNext / 1000));
    throw new AppError("RATE_LIMIT_EXCEEDED", `That is more than a person asks for. Wait ${retryAfter} seconds and try again.`, {
      retryAfter,
    });
  }
}

/** Returns true when every procedure in the path is open to anonymous clients. */
function isPublic(pathname: string): boolean {
  const { procedures } = appRouter._def;
  const names = decodeURIComponent(pathname).split("/").at(-1)?.split(",") ?? [];
  return names.every((name) => Object.hasOwn(procedures, name) && Reflect.get(procedures, name)._def.meta?.access === "public");
}

function withoutLength(headers: Headers): Headers {
  const copy = new Headers(headers);
  copy.delete("content-length");
  return copy;
}

/**
 * A JSON body with its texts cleaned; what is no JSON stays as it is, for tRPC to refuse.
 * @throws AppError VALIDATION_ERROR for JSON that is too complex
 */
function cleaned(body: Uint8Array): Uint8Array {
  try {
    return new TextEncoder().encode(JSON.stringify(parseApiJson(new TextDecoder().decode(body))));
  } catch (cause) {
    if (cause instanceof JsonTooComplex) throw new AppError("VALIDATION_ERROR", `The body is too complex. ${cause.message}`, { cause });
    return body;
  }
}

/** The body read within the limit and cleaned as the REST adapter does, so that tRPC has nothing unbounded to read. */
async function bounded(request: Request, isKnown: boolean): Promise<Request> {
  if (isReading(request.method)) return request;
  const isLimited = !isKnown || isPublic(new URL(request.url).pathname);
  const body = await readBytes(request, isLimited ? MAX_PUBLIC_BODY_BYTES : undefined);
  return new Request(request.url, {
    method: request.method,
    headers: withoutLength(request.headers),
    body: Uint8Array.from(cleaned(body)),
    signal: request.signal,
  });
}

const isJson = (request: Request) => /^application\/json\s*(;|$)/i.test(request.headers.get("content-type")?.trim() ?? "");

/** tRPC's own words for it are none of ours, and another type would let a form of another site send without being asked about. */
const notJson = (): Response =>
  Response.json(
    { detail: "Send JSON, with the header `Content-Type: application/json`.", error_code: "BAD_REQUEST", status: 415 },
    { status: 415, headers: { "cache-control": "no-store" } },
  );

/** The web UI's door: tRPC with the browser session. A platform key is refused. */
export async function handleTrpc(request: Request): Promise<Response> {
  try {
    if (request.method === "POST" && !isJson(request)) return notJson();
    // Who asks is known before anything is read; a refusal is told in tRPC's way.
    const context = createContext(request, { sessionOnly: true });
    const caller = await context.catch(() => null);
    const texts = new DeferredTexts();
    const req = await bounded(request, caller !== null && caller.principal !== null);
    const answer = await fetchRequestHandler({
      endpoint: "/api/trpc",
      req,
      router: appRouter,
      // A query whose input is too long for an address comes by POST.
      allowMethodOverride: true,
      maxBatchSize: MOST_CALLS,
      createContext: async ({ info }) => {
        await countCalls(await context, info.calls.length);
        return { ...(await context), texts };
      },
      responseMeta: ({ errors }) => {
        const wait = errors.map((error) => appErrorOf(error).retryAfter).find((seconds) => seconds !== undefined);
        return { headers: { "cache-control": "no-store", ...(wait !== undefined && { "retry-after": String(Math.ceil(wait)) }) } };
      },
    });
    const account = caller?.principal?.user.id ?? caller?.address;
    return textResponse(await answer.text(), answer.status, Object.fromEntries(answer.headers), {
      account,
      texts,
      signal: request.signal,
      isOutcome: !isReading(request.method),
    });
  } catch (error) {
    return loggedErrorResponse(error, request);
  }
}
