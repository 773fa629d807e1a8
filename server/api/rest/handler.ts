import type { AnyTRPCRouter } from "@trpc/server";
import { TRPCError } from "@trpc/server";
import { authRequired, loggedErrorResponse } from "#server/api/rest/api-route.ts";
import { coerceQuery } from "#server/api/rest/coerce-query.ts";
import { readJsonObject } from "#server/api/rest/read-json.ts";
import { errorResponse, jsonResponse } from "#server/api/rest/respond.ts";
import { compileRoutes, type Route } from "#server/api/rest/routes.ts";
import type { ApiContext } from "#server/api/trpc.ts";
import { AppError } from "#server/errors.ts";

interface RestOptions {
  /** What stands before every path, e.g. `/api/v1`. */
  prefix: string;
  createContext(request: Request): Promise<ApiContext>;
  /** Bytes a body may have. */
  maxBodyBytes(): number;
}

type Call = (input: unknown) => Promise<unknown>;

/** The fields of the query string; one that stands several times is a list. */
function readQuery(url: URL, { fields }: Route): Record<string, unknown> {
  const keys = [...new Set(url.searchParams.keys())];
  return Object.fromEntries(
    keys.map((key) => {
      const all = url.searchParams.getAll(key);
      const value = all.length > 1 ? all : (all[0] ?? "");
      const schema = Object.hasOwn(fields, key) ? fields[key] : undefined;
      return [key, schema ? coerceQuery(schema, value) : value];
    }),
  );
}

/** GET reads the query, POST and PUT the body, DELETE both; the path wins over either. */
async function readInput(request: Request, url: URL, route: Route, params: Record<string, string>, maxBytes: number) {
  const query = readQuery(url, route);
  const strayKey = Object.keys(query)[0];
  if (strayKey !== undefined && (route.method === "POST" || route.method === "PUT")) {
    const message = "This operation takes no query parameters: send the value in the body.";
    throw new AppError("VALIDATION_ERROR", `${strayKey}: ${message}`, { errors: [{ path: strayKey, message }] });
  }
  const body = route.method === "GET" ? {} : await readJsonObject(request, maxBytes);
  return { ...query, ...body, ...params };
}

/**
 * The REST API over a tRPC router: one function from request to answer, for every path under the prefix.
 * Routes are compiled once; the schemas are read and never changed.
 */
export function createRestHandler(router: AnyTRPCRouter, { prefix, createContext, maxBodyBytes }: RestOptions) {
  const routes = compileRoutes(router);

  async function call({ route, params }: { route: Route; params: Record<string, string> }, request: Request, url: URL): Promise<Response> {
    const context = await createContext(request);
    // Before the body: a stranger is told so first, whatever he sends.
    if (route.access !== "public" && !context.principal) throw authRequired();
    const input = await readInput(request, url, route, params, maxBodyBytes());
    const caller: unknown = router.createCaller(context);
    const procedure = route.procedure.split(".").reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], caller) as Call;
    return jsonResponse(await procedure(input), route.successStatus);
  }

  return async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    const path = url.pathname.slice(prefix.length).replace(/\/+$/, "") || "/";
    const hits = routes.flatMap((route) => {
      const params = route.match(path);
      return params ? [{ route, params }] : [];
    });
    if (!hits.length)
      return errorResponse(
        new AppError("NOT_FOUND", `There is nothing at ${path.slice(0, 200)}. The API is described at ${prefix}/openapi.json.`),
      );
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
      return request.method === "HEAD" ? new Response(null, response) : response;
    } catch (error) {
      // A procedure has logged its own errors already.
      return error instanceof TRPCError ? errorResponse(error) : loggedErrorResponse(error, request);
    }
  };
}
