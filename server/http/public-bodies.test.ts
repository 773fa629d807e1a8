import { expect, test } from "vitest";
import { MAX_PUBLIC_BODY_BYTES } from "#server/http/messages/read-json.ts";
import { handleRest } from "#server/http/rest/rest.ts";
import { compileRoutes } from "#server/http/rest/routes.ts";
import { handleTrpc } from "#server/http/trpc/handler.ts";
import { appRouter } from "#server/http/trpc/root.ts";
import type { ApiMeta } from "#server/platform/rpc/trpc.ts";

const origin = "http://localhost:4000";
const post = (path: string, body: string, method = "POST") =>
  new Request(`${origin}${path}`, { method, body, headers: { "content-type": "application/json" } });
const bodyOf = (bytes: number) => JSON.stringify({ padding: "x".repeat(bytes - 14) });

const operations = compileRoutes(appRouter).filter(({ access, method }) => access === "public" && method !== "GET");
// cast: the router's own type lists its procedures by their last name only
const definitions = appRouter._def.procedures as unknown as Record<string, { _def: { type: string; meta?: ApiMeta } }>;
const procedures = Object.entries(definitions).flatMap(([name, { _def }]) =>
  _def.meta?.access === "public" && _def.type === "mutation" ? [name] : [],
);

test("finds the operations that anyone may call", () => {
  expect(operations.map(({ path }) => path)).toEqual(expect.arrayContaining(["/auth/sign-up", "/invitations/{token}/accept"]));
  expect(procedures).toEqual(expect.arrayContaining(["reviews.decideByLink", "security.requestPasswordReset"]));
});

test.each(operations)("accepts 64 KiB at most: $method $path", async ({ method, path }) => {
  const address = `/api/v1${path.replace(/\{\w+\}/g, "x".repeat(43))}`;

  const statusOf = async (bytes: number) => (await handleRest(post(address, bodyOf(bytes), method))).status;

  expect(await statusOf(MAX_PUBLIC_BODY_BYTES)).toBe(422);
  expect(await statusOf(MAX_PUBLIC_BODY_BYTES + 1)).toBe(413);
});

test.each(procedures)("accepts 64 KiB at most of the web app: %s", async (name) => {
  const answer = await handleTrpc(post(`/api/trpc/${name}`, bodyOf(MAX_PUBLIC_BODY_BYTES + 1)));

  expect(answer.status).toBe(413);
});
