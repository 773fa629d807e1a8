import type { Route } from "#server/http/rest/routes.ts";

// Which errors an operation can give. What follows from the way in (reading, key, role, limits) is the same for all;
// what only the use case knows stands in the tables below, by method and path.

/** Operations against which the state of something can stand. */
const CONFLICTS: readonly RegExp[] = [
  /^POST \/(auth|invitations)\b/, // a known address, used already
  /^GET \/invitations\//, // used already
  /^PUT \/(agents|workflows|projects|rags|mcp)\/\{\w+\}$/, // a name that is taken, an old version
  /^DELETE \/(agents|llm-keys|rags|mcp|credentials)\/\{\w+\}$/, // in use
  /^DELETE \/(projects\/\{\w+\}\/members|install\/admins\/\{\w+\})$/, // the last admin
];

/** Operations that call a model or another service while the caller waits. */
const CALLS_OUT: readonly RegExp[] = [/^(POST|PUT) \/(agents|mcp)\b/, /^GET \/rags\/\{\w+\}\/search$/];

const fits = (list: readonly RegExp[], operation: string): boolean => list.some((pattern) => pattern.test(operation));

/** HTTP statuses of the errors that the operation can answer, in order. */
export function errorsOf({ method, path, access, isIdempotent }: Pick<Route, "method" | "path" | "access" | "isIdempotent">): number[] {
  const operation = `${method} ${path}`;
  const isChange = method !== "GET";
  const inProject = access === "viewer" || access === "editor" || access === "admin";
  return [
    ...(inProject || isChange ? [400] : []),
    ...(access === "public" ? [] : [401]),
    // Roles, the scopes of keys, and for a browser's session the origin of whatever changes something.
    ...(isChange || access !== "public" ? [403] : []),
    ...(inProject || path.includes("{") ? [404] : []),
    // 409 also for an Idempotency-Key that was sent before with another body.
    ...(isIdempotent || fits(CONFLICTS, operation) ? [409] : []),
    ...(isChange ? [413] : []),
    422,
    429,
    500,
    ...(fits(CALLS_OUT, operation) ? [502] : []),
  ];
}
