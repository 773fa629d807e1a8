import { type AnyTRPCRouter, TRPCError } from "@trpc/server";
import type { z } from "zod";
import { MAX_PUBLIC_BODY_BYTES, readJsonObject } from "#server/http/messages/read-json.ts";
import { authRequired, errorResponse, jsonResponse, loggedErrorResponse } from "#server/http/messages/respond.ts";
import { coerceQuery } from "#server/http/rest/coerce-query.ts";
import { withIdempotency } from "#server/http/rest/idempotency.ts";
import { compileRoutes, type Hit, type Route, routeFinder } from "#server/http/rest/routes.ts";
import { assertRole, type Principal } from "#server/platform/auth/principal.ts";
import type { KeyNeeds } from "#server/platform/auth/rights.ts";
import { cleanText } from "#server/platform/clean-text.ts";
import { DeferredTexts } from "#server/platform/deferred-texts.ts";
import { AppError, invalidField } from "#server/platform/errors.ts";
import type { ApiContext } from "#server/platform/rpc/trpc.ts";
import { canonicalPieces } from "#server/shared/canonical-json.ts";

interface RestOptions {
  /** What stands before every path, e.g. `/api/v1`. */
  prefix: string;
  /** Answers the operations that take the browser's session only, and nobody without one; left out, all others. */
  sessionOnly?: boolean;
  /** Refuses a platform key that is not good for the operation; see `createContext`. */
  createContext(request: Request, keyNeeds: KeyNeeds | null): Promise<ApiContext>;
  /** Bytes a body may have. */
  maxBodyBytes(): number;
}

type Call = (input: unknown) => Promise<unknown>;

/** Headers of a request that describe its own body or answer. */
const BODY_HEADERS: ReadonlySet<string> = new Set(["content-length", "content-type", "transfer-encoding", "idempotency-key"]);

/** The fields of the query string, cleaned as a body is; one that stands several times is a list. */
function readQuery(url: URL, { fields }: Route): Record<string, unknown> {
  if (url.search === "") return {};
  const byKey = Map.groupBy(url.searchParams, ([key]) => key);
  return Object.fromEntries(
    [...byKey].map(([key, pairs]) => {
      const all = pairs.map(([, text]) => cleanText(text));
      const value = all.length > 1 ? all : (all[0] ?? "");
      const schema = Object.hasOwn(fields, key) ? fields[key] : undefined;
      return [key, schema ? coerceQuery(schema, value) : value];
    }),
  );
}

/** Whether a schema takes no text like this one: longer than any id, say. */
const isNoneOf = (schema: z.ZodType, value: unknown): boolean =>
  schema.safeParse(value).error?.issues.some((issue) => "origin" in issue && issue.origin === "string") ?? false;

/**
 * The path's parameters, as the types that their schemas want.
 * @throws AppError NOT_FOUND for a text that can be no id: whatever its length, nothing is there
 */
function readParams(params: Record<string, string>, { fields }: Route, nothingThere: () => AppError): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(params).map(([key, text]) => {
      const schema = fields[key];
      const value = schema ? coerceQuery(schema, text) : text;
      if (schema && isNoneOf(schema, value)) throw nothingThere();
      return [key, value];
    }),
  );
}

/** GET reads the query, POST, PUT and PATCH the body, DELETE both; the path wins over either. */
async function readInput(request: Request, url: URL, route: Route, ids: Record<string, unknown>, maxBytes: number) {
  const query = readQuery(url, route);
  const strayKey = Object.keys(query)[0];
  if (strayKey !== undefined && ["POST", "PUT", "PATCH"].includes(route.method)) {
    const message = "This operation takes no query parameters: send the value in the body.";
    throw invalidField(strayKey, message, `${strayKey.slice(0, 80)}: ${message}`);
  }
  const body = route.method === "GET" ? {} : await readJsonObject(request, maxBytes);
  return { ...query, ...body, ...ids };
}

/** The project of an operation in which an Idempotency-Key counts; null outside projects. Also lets in nobody whose role is too low. */
async function projectOfKey({ access }: Route, context: ApiContext, principal: Principal): Promise<string | null> {
  if (access === "public" || access === "user") return null;
  const inProject = await context.project(principal);
  assertRole(inProject, access);
  return inProject.project.id;
}

/** An error as its answer. A procedure has logged its own errors already. */
const failure = (error: unknown, request: Request): Response =>
  error instanceof TRPCError ? errorResponse(error) : loggedErrorResponse(error, request);

/**
 * The REST API over a tRPC router: one function from request to answer, for every path under the prefix.
 * Routes are compiled once; the schemas are read and never changed.
 */
export function createRestHandler(router: AnyTRPCRouter, { prefix, sessionOnly = false, createContext, maxBodyBytes }: RestOptions) {
  const find = routeFinder(compileRoutes(router, sessionOnly));
  const pathOf = (url: URL) => url.pathname.slice(prefix.length).replace(/(?<!\/)\/+$/, "") || "/";

  const nothingAt = (path: string) =>
    new AppError(
      "NOT_FOUND",
      `There is nothing at ${path.slice(0, 200)}.${sessionOnly ? "" : ` The API is described at ${prefix}/openapi.json.`}`,
    );

  const reader = (path: string) => find(path).find(({ route }) => route.method === "GET");

  /** Path of the operation that reads what a request made or changed, by the id in its answer; undefined when there is none. */
  function resourceOf(path: string, id: unknown): string | undefined {
    if (typeof id !== "string") return undefined;
    const [, collection] = path.split("/");
    return [`${path}/${id}`, `/${collection}/${id}`].find((candidate) => reader(candidate));
  }

  /** Answers a GET for the caller of another request. */
  async function read(path: string, { headers, signal }: Request, url: URL): Promise<Response> {
    const request = new Request(new URL(`${prefix}${path}`, url), {
      headers: new Headers([...headers].filter(([name]) => !BODY_HEADERS.has(name))),
      signal,
    });
    const hit = reader(path);
    if (!hit) return errorResponse(nothingAt(path));
    // The key was let in for the operation whose answer this is.
    const allowed = { ...hit, route: { ...hit.route, keyNeeds: null } };
    return call(allowed, request, new URL(request.url)).catch((error: unknown) => failure(error, request));
  }

  async function call({ route, params }: Hit, request: Request, url: URL): Promise<Response> {
    const texts = new DeferredTexts();
    const context = { ...(await createContext(request, route.keyNeeds)), texts };
    const { principal } = context;
    // Before the body: a stranger is told so first, whatever he sends.
    if (route.access !== "public" && !principal) throw authRequired(sessionOnly);
    const isKeyed = route.isIdempotent && principal !== null && request.headers.has("idempotency-key");
    const project_id = isKeyed ? await projectOfKey(route, context, principal) : null;
    const ids = readParams(params, route, () => nothingAt(pathOf(url)));
    const maxBytes = route.access === "public" ? Math.min(maxBodyBytes(), MAX_PUBLIC_BODY_BYTES) : maxBodyBytes();
    const input = await readInput(request, url, route, ids, maxBytes);
    const answer = async () => {
      const caller: unknown = router.createCaller(context);
      const procedure = route.procedure.split(".").reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], caller) as Call;
      return jsonResponse(await procedure(input), route.successStatus, {
        account: principal?.user.id ?? context.address,
        texts,
        signal: request.signal,
        isOutcome: route.method !== "GET",
      });
    };
    if (!isKeyed) return answer();
    const asked = {
      principal,
      project_id,
      operation: `${route.method} ${route.path}`,
      content: () => canonicalPieces(input),
      resourceOf: (id: unknown) => resourceOf(pathOf(url), id),
      read: (path: string) => read(path, request, url),
    };
    return withIdempotency(request.headers, asked, () => answer().catch((error: unknown) => failure(error, request)));
  }

  return async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    const path = pathOf(url);
    const hits = find(path);
    if (sessionOnly && !hits.some(({ route }) => route.method === request.method)) {
      // Without a session nobody learns what is there.
      try {
        if (!(await createContext(request, null)).principal) throw authRequired(true);
      } catch (error) {
        return failure(error, request);
      }
    }
    if (!hits.length) return errorResponse(nothingAt(path));
    const method = request.method === "HEAD" ? "GET" : request.method;
    const methods = [...new Set(hits.map(({ route }) => route.method))];
    const allow = [...(methods.includes("GET") ? ["GET", "HEAD"] : []), ...methods.filter((name) => name !== "GET"), "OPTIONS"].join(", ");
    if (method === "OPTIONS") return new Response(null, { status: 204, headers: { allow } });
    const hit = hits.find(({ route }) => route.method === method);
    if (!hit)
      return errorResponse(new AppError("METHOD_NOT_ALLOWED", `${method.slice(0, 20)} is not for this path. It takes ${allow}.`), {
        allow,
      });
    try {
      const response = await call(hit, request, url);
      if (request.method !== "HEAD") return response;
      await response.body?.cancel();
      return new Response(null, response);
    } catch (error) {
      return failure(error, request);
    }
  };
}
