import type { AnyTRPCRouter } from "@trpc/server";
import type { z } from "zod";
import type { Access, ApiMeta } from "#server/api/trpc.ts";

/** One operation of the REST API. */
export interface Route {
  /** Where the procedure is in the router, e.g. `agents.create`. */
  procedure: string;
  method: string;
  /** As in the API document, e.g. `/agents/{agent_id}`. */
  path: string;
  access: Access;
  successStatus: number;
  /** Schemas of the input's fields; path and query values are read with them. */
  fields: Record<string, z.ZodType>;
  /** Values of the path's parameters, or null when the path is another. */
  match(path: string): Record<string, string> | null;
}

interface ProcedureDefinition {
  _def: { meta?: ApiMeta; inputs: z.ZodType[] };
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
  return (asked) => {
    const segments = asked.split("/");
    if (segments.length !== wanted.length) return null;
    const values: [string, string][] = [];
    for (const [at, want] of wanted.entries()) {
      const have = segments[at] ?? "";
      if (!isParameter(want)) {
        if (want !== have) return null;
        continue;
      }
      try {
        values.push([want.slice(1, -1), decodeURIComponent(have)]);
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
 * @throws Error when two procedures share a method and path, or a path parameter is no field of the input
 */
export function compileRoutes(router: AnyTRPCRouter): Route[] {
  const procedures = Object.entries(router._def.procedures as unknown as Record<string, ProcedureDefinition>);
  const routes = procedures.flatMap(([procedure, { _def }]): Route[] => {
    const { openapi, access = "user", successStatus = 200 } = _def.meta ?? {};
    if (!openapi || openapi.enabled === false) return [];
    const { method, path } = openapi;
    const fields = Object.assign({}, ..._def.inputs.map((input) => (input as z.ZodObject).shape ?? {})) as Route["fields"];
    for (const [, name = ""] of path.matchAll(/\{(\w+)\}/g)) {
      if (!(name in fields)) throw new Error(`${procedure}: the input has no field for {${name}} of ${path}.`);
    }
    return [{ procedure, method, path, access, successStatus, fields, match: matcher(path) }];
  });
  const seen = new Map<string, string>();
  for (const { method, path, procedure } of routes) {
    const address = `${method} ${path.replace(/\{\w+\}/g, "{}")}`;
    if (seen.has(address)) throw new Error(`${procedure} and ${seen.get(address)} share ${address}.`);
    seen.set(address, procedure);
  }
  return routes.sort(bySpecificity);
}
