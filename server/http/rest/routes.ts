import type { AnyTRPCRouter } from "@trpc/server";
import type { z } from "zod";
import type { KeyNeeds } from "#server/platform/auth/rights.ts";
import type { Access, ApiMeta } from "#server/platform/rpc/trpc.ts";

/** One operation of the REST API. */
export interface Route {
  /** Where the procedure is in the router, e.g. `agents.create`. */
  procedure: string;
  method: string;
  /** As in the API document, e.g. `/agents/{agent_id}`. */
  path: string;
  access: Access;
  /** Whom the operation declares that it needs, in its project; undefined when it was made without saying so. */
  needs: Access | ApiMeta["role"];
  /** What a platform key must be good for; null where none is needed. */
  keyNeeds: KeyNeeds | null;
  successStatus: number;
  /** Whether it honours `Idempotency-Key`: every POST of somebody who is known, unless its metadata says otherwise. */
  isIdempotent: boolean;
  /** Whether it takes the browser's session only: one of the web app's own, below `/bridge`. */
  sessionOnly: boolean;
  /** Schemas of the input's fields; path and query values are read with them. */
  fields: Record<string, z.ZodType>;
  /** Values of the path's parameters, or null when the path is another. */
  match(segments: string[]): Record<string, string> | null;
}

/** A route that has the path that was asked for, and the values of its parameters. */
export interface Hit {
  route: Route;
  params: Record<string, string>;
}

interface ProcedureDefinition {
  _def: { type: "query" | "mutation" | "subscription"; meta?: ApiMeta; inputs: z.ZodType[] };
}

/**
 * What a key must be good for: a query reads, and whatever else there is writes, unless its metadata says that it runs
 * something. So an operation that says nothing is never open to a key that may only read.
 */
function keyNeedsOf({ type, meta }: ProcedureDefinition["_def"]): KeyNeeds | null {
  const { access = "user", role, runs = false, isOpenToRun = false, sessionOnly = false } = meta ?? {};
  if (access === "public" || sessionOnly) return null;
  if (type === "query") return { scope: "read", isAccountWide: role === "install_admin", ...(isOpenToRun && { isOpenToRun }) };
  return { scope: runs ? "run" : "write", isAccountWide: access === "user" && (role === undefined || role === "install_admin") };
}

const isParameter = (segment: string) => segment.startsWith("{");

/** Sorts static segments before parameters, so that `/x/search` is never taken for `/x/{id}`. */
function bySpecificity(a: Route, b: Route): number {
  const [left, right] = [a.path.split("/"), b.path.split("/")];
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const difference = Number(isParameter(left[at] ?? "")) - Number(isParameter(right[at] ?? ""));
    if (difference) return difference;
  }
  return left.length - right.length;
}

function matcher(path: string): Route["match"] {
  const wanted = path.split("/");
  return (segments) => {
    if (segments.length !== wanted.length) return null;
    const values: [string, string][] = [];
    for (const [at, want] of wanted.entries()) {
      const have = segments[at] ?? "";
      if (!isParameter(want)) {
        if (want !== have) return null;
        continue;
      }
      try {
        const value = decodeURIComponent(have);
        if (value.includes("\u0000")) return null; // no id has one, and PostgreSQL takes no text with one
        values.push([want.slice(1, -1), value]);
      } catch {
        return null;
      }
      if (have === "") return null;
    }
    return Object.fromEntries(values);
  };
}

/**
 * The routes of every procedure with OpenAPI metadata, in the order in which they are tried.
 * @param sessionOnly those that take the browser's session only, or the others
 * @throws Error when two procedures share a method and path, a path parameter is no field of the input, or one that takes the
 *   session only is not below `/bridge`
 */
export function compileRoutes(router: AnyTRPCRouter, sessionOnly = false): Route[] {
  const procedures = Object.entries(router._def.procedures as unknown as Record<string, ProcedureDefinition>);
  const routes = procedures.flatMap(([procedure, { _def }]): Route[] => {
    const { openapi, access = "user", successStatus = 200, ...meta } = _def.meta ?? {};
    if (!openapi || openapi.enabled === false || (meta.sessionOnly ?? false) !== sessionOnly) return [];
    const { method, path } = openapi;
    if (path.startsWith("/bridge/") !== sessionOnly) throw new Error(`${procedure}: ${path} is ${sessionOnly ? "not " : ""}below /bridge.`);
    const fields = Object.assign({}, ..._def.inputs.map((input) => (input as z.ZodObject).shape ?? {})) as Route["fields"];
    for (const [, name = ""] of path.matchAll(/\{(\w+)\}/g)) {
      if (!(name in fields)) throw new Error(`${procedure}: the input has no field for {${name}} of ${path}.`);
    }
    const isIdempotent = method === "POST" && access !== "public" && meta.isIdempotent !== false;
    return [
      {
        procedure,
        method,
        path,
        access,
        needs: meta.role ?? _def.meta?.access,
        keyNeeds: keyNeedsOf(_def),
        successStatus,
        isIdempotent,
        sessionOnly,
        fields,
        match: matcher(path),
      },
    ];
  });
  const seen = new Map<string, string>();
  for (const { method, path, procedure } of routes) {
    const address = `${method} ${path.replace(/\{\w+\}/g, "{}")}`;
    if (seen.has(address)) throw new Error(`${procedure} and ${seen.get(address)} share ${address}.`);
    seen.set(address, procedure);
  }
  return routes.sort(bySpecificity);
}

/**
 * Finds the routes of a path, of any method, the most specific ones first. Only those are looked at that have as many
 * segments and the same first one.
 */
export function routeFinder(routes: Route[]): (path: string) => Hit[] {
  const bucket = (segments: string[], first = segments[1] ?? "") => `${segments.length} ${isParameter(first) ? "{}" : first}`;
  const buckets = Map.groupBy(routes, ({ path }) => bucket(path.split("/")));
  return (path) => {
    const segments = path.split("/");
    const near = [...(buckets.get(bucket(segments)) ?? []), ...(buckets.get(bucket(segments, "{}")) ?? [])];
    return near.flatMap((route) => {
      const params = route.match(segments);
      return params ? [{ route, params }] : [];
    });
  };
}
