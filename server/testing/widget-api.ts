import { z } from "zod";
import { createRestHandler } from "#server/http/rest/handler.ts";
import { AppError } from "#server/platform/errors.ts";
import { type ApiContext, endpoint, publicProcedure, router, userProcedure } from "#server/platform/rpc/trpc.ts";

// A small API behind the real REST adapter, for the tests of the adapter.

const tag = "Test";
export const Widget = z.strictObject({ name: z.string().min(1), retries: z.number().int(), enabled: z.boolean() });
export const Listing = z.strictObject({
  limit: z.number().int().max(100).default(20),
  archived: z.boolean().optional(),
  ratio: z.number().nullable().optional(),
  kind: z.union([z.number(), z.enum(["all", "none"])]).optional(),
  tags: z.array(z.string()).optional(),
  text: z.string().optional(),
});
const anything = z.unknown();

const testRouter = router({
  widgets: router({
    get: publicProcedure
      .meta(endpoint("GET", "/widgets/{widget_id}", { tag, summary: "Get" }))
      .input(z.strictObject({ widget_id: z.string().max(64) }))
      .output(anything)
      .query(({ input }) => input),
    search: publicProcedure
      .meta(endpoint("GET", "/widgets/search", { tag, summary: "Search" }))
      .input(z.strictObject({}))
      .output(anything)
      .query(() => "search"),
    list: publicProcedure
      .meta(endpoint("GET", "/widgets", { tag, summary: "List" }))
      .input(Listing)
      .output(anything)
      .query(({ input }) => input),
    create: publicProcedure
      .meta(endpoint("POST", "/widgets", { tag, summary: "Create", status: 201 }))
      .input(Widget)
      .output(Widget)
      .mutation(({ input }) => input),
    update: publicProcedure
      .meta(endpoint("PUT", "/widgets/{widget_id}", { tag, summary: "Update" }))
      .input(z.strictObject({ widget_id: z.string(), name: z.string().optional() }))
      .output(anything)
      .mutation(({ input }) => input),
    remove: publicProcedure
      .meta(endpoint("DELETE", "/widgets/{widget_id}", { tag, summary: "Delete", status: 204 }))
      .input(z.strictObject({ widget_id: z.string(), force: z.boolean().optional(), reason: z.string().optional() }))
      .output(z.void())
      .mutation(({ input }) => {
        if (input.force !== true) throw new AppError("CONFLICT", `It is in use (${input.reason ?? "no reason"}).`);
      }),
  }),
  run: publicProcedure
    .meta(endpoint("POST", "/run", { tag, summary: "Run", status: 202 }))
    .input(z.strictObject({ input: z.string().optional() }))
    .output(anything)
    .mutation(({ input }) => input),
  boom: publicProcedure
    .meta(endpoint("GET", "/boom", { tag, summary: "Fail" }))
    .input(z.strictObject({}))
    .output(anything)
    .query(() => {
      throw new Error("the database password is hunter2");
    }),
  wrongOutput: publicProcedure
    .meta(endpoint("GET", "/wrong-output", { tag, summary: "Fail" }))
    .input(z.strictObject({}))
    .output(z.object({ count: z.number() }))
    .query(() => ({ count: "secret" }) as never),
  wait: publicProcedure
    .meta(endpoint("GET", "/wait", { tag, summary: "Limited" }))
    .input(z.strictObject({}))
    .output(anything)
    .query(() => {
      throw new AppError("RATE_LIMIT_EXCEEDED", "Too many.", { retryAfter: 12.3 });
    }),
  mine: userProcedure
    .meta(endpoint("POST", "/mine", { tag, summary: "Mine" }))
    .input(z.strictObject({ text: z.string() }))
    .output(anything)
    .mutation(({ ctx }) => ctx.principal.user.email),
  hidden: publicProcedure.input(z.strictObject({})).query(() => "not on the REST API"),
});

export const nobody: ApiContext = {
  principal: null,
  address: "unknown",
  isOnThisMachine: false,
  project: () => Promise.reject(new AppError("NOT_FOUND", "none")),
};
const somebody: ApiContext = {
  ...nobody,
  principal: { user: { id: "1", email: "ada@example.com", name: "Ada" }, auth: { type: "session" } },
};

const handle = createRestHandler(testRouter, {
  prefix: "/api/v1",
  createContext: async (request) => (request.headers.has("authorization") ? somebody : nobody),
  maxBodyBytes: () => 1000,
});

interface Sent {
  body?: unknown;
  raw?: BodyInit;
  headers?: Record<string, string>;
}

/** One request to the small API; `raw` goes as it is, `body` as JSON. */
export async function callWidgets(method: string, path: string, { body, raw, headers = {} }: Sent = {}) {
  const init: RequestInit & { duplex?: "half" } = { method, headers };
  if (raw !== undefined) Object.assign(init, { body: raw, duplex: "half" });
  if (body !== undefined) Object.assign(init, { body: JSON.stringify(body), headers: { "content-type": "application/json", ...headers } });
  const response = await handle(new Request(`http://localhost/api/v1${path}`, init));
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, data: text ? JSON.parse(text) : undefined };
}
