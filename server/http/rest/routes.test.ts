import { initTRPC } from "@trpc/server";
import { expect, test } from "vitest";
import { z } from "zod";
import { compileRoutes } from "#server/http/rest/routes.ts";
import { type ApiMeta, endpoint } from "#server/platform/rpc/trpc.ts";

const t = initTRPC.meta<ApiMeta>().create();
const get = (path: `/${string}`, ...names: string[]) =>
  t.procedure
    .meta(endpoint("GET", path, { tag: "Test", summary: "x" }))
    .input(z.object(Object.fromEntries(names.map((name) => [name, z.string()]))))
    .query(() => 1);

test("two procedures at one address stop the start", () => {
  const twice = t.router({ a: get("/x/{a}", "a"), b: get("/x/{b}", "b") });
  expect(() => compileRoutes(twice)).toThrow("b and a share GET /x/{}.");
});

test("a path parameter without a field in the input stops the start", () => {
  expect(() => compileRoutes(t.router({ a: get("/x/{a}") }))).toThrow(/no field for \{a\}/);
});

test("what is more specific at the first difference is tried first", () => {
  const routes = compileRoutes(
    t.router({ a: get("/{a}/b", "a"), b: get("/x/{b}", "b"), c: get("/x/y"), d: get("/{a}", "a"), e: get("/x") }),
  );
  expect(routes.map(({ path }) => path)).toEqual(["/x", "/x/y", "/x/{b}", "/{a}", "/{a}/b"]);
});
