import { randomUUID } from "node:crypto";
import { encode } from "next-auth/jwt";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { createPlatformKey } from "#server/features/platform-keys/service.ts";
import { handleTrpc } from "#server/http/trpc/handler.ts";
import { appRouter } from "#server/http/trpc/root.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { passwordMark, sessionCookieName } from "#server/platform/auth/session.ts";
import type { ApiMeta } from "#server/platform/rpc/trpc.ts";
import { setSettings } from "#server/platform/settings.ts";
import type { ErrorBody } from "#server/shared/error-schema.ts";
import { MOST_CALLS } from "#server/shared/most-calls.ts";
import { testDatabase } from "#server/testing/test-database.ts";

// Every procedure at the web UI's door /api/trpc. What a role may do once inside is in access.test.ts.

interface ProcedureDefinition {
  _def: { type: string; meta?: ApiMeta };
}
const procedures = Object.entries(appRouter._def.procedures as unknown as Record<string, ProcedureDefinition>).map(([path, { _def }]) => ({
  path,
  isChange: _def.type === "mutation",
  isPublic: _def.meta?.access === "public",
}));

const origin = "http://localhost:4000";
const secret = "auth secret of at least 32 characters";
const database = testDatabase();
let ada: ProjectPrincipal;
let session: Record<string, string>;
let key: Record<string, string>;

beforeAll(async () => {
  setSettings({ AUTH_SECRET: secret, APP_URL: origin, RATE_LIMIT_WEB: "0" });
  ada = await database.newAdmin();
  const token = await encode({ token: { sub: ada.user.id, sid: randomUUID(), password_mark: passwordMark(null) }, secret });
  session = { cookie: `${sessionCookieName(false)}=${token}` };
  key = { authorization: `Bearer ${(await createPlatformKey(ada, { name: "CI" })).key}` };
});

/** Status and code of a call with an input that no schema takes, which no service ever sees. */
async function call(path: string, isPost: boolean, headers: Record<string, string>): Promise<string> {
  const input = JSON.stringify({ "no such field": true });
  const url = `${origin}/api/trpc/${path}${isPost ? "" : `?input=${encodeURIComponent(input)}`}`;
  const init = isPost ? { method: "POST", body: input, headers: { "content-type": "application/json", ...headers } } : { headers };
  const response = await handleTrpc(new Request(url, init));
  const body = (await response.json()) as { error?: { data: ErrorBody } } & Partial<ErrorBody>;
  return `${response.status} ${body.error?.data.error_code ?? body.error_code}`;
}

/** The calls of all procedures at once: there are many, and each waits for the database. */
const all = <Result>(each: (procedure: (typeof procedures)[number]) => Promise<Result>) => Promise.all(procedures.map(each));
const TIMEOUT_MS = 120_000;

const INVALID = "422 VALIDATION_ERROR";
const REFUSED = "403 PERMISSION_DENIED";

test(
  "nobody calls what is not public",
  async () => {
    await all(async ({ path, isChange, isPublic }) => {
      expect(await call(path, isChange, {}), path).toBe(isPublic ? INVALID : "401 AUTH_REQUIRED");
      expect(await call(path, isChange, { ...session, authorization: "Bearer garbage" }), path).toBe(
        isPublic ? INVALID : "401 AUTH_REQUIRED",
      );
    });
  },
  TIMEOUT_MS,
);

test(
  "a platform key opens nothing here",
  async () => {
    await all(async ({ path, isChange }) => {
      expect(await call(path, isChange, key), path).toBe(REFUSED);
      expect(await call(path, isChange, { ...session, ...key, origin }), path).toBe(REFUSED);
    });
  },
  TIMEOUT_MS,
);

test(
  "with a session, what changes something is taken from our own pages only, and never by GET",
  async () => {
    await all(async ({ path, isChange }) => {
      expect(await call(path, isChange, { ...session, origin }), path).toBe(INVALID);
      if (!isChange) {
        expect(await call(path, false, session), path).toBe(INVALID);
        return;
      }
      for (const from of [{}, { origin: "https://evil.example" }, { origin: "null" }, { "sec-fetch-site": "cross-site" }]) {
        expect(await call(path, true, { ...session, ...from }), `${path} ${JSON.stringify(from)}`).toBe(REFUSED);
      }
      expect(await call(path, false, session), path).toBe("405 METHOD_NOT_ALLOWED");
    });
  },
  TIMEOUT_MS,
);

test("a batch lets nobody in either", async () => {
  const paths = procedures.filter(({ isChange, isPublic }) => !isChange && !isPublic).map(({ path }) => path);
  for (let at = 0; at < paths.length; at += MOST_CALLS) {
    const batch = paths.slice(at, at + MOST_CALLS);
    const response = await handleTrpc(new Request(`${origin}/api/trpc/${batch.join(",")}?batch=1`));
    const answers = (await response.json()) as { error?: { data: ErrorBody } }[];
    expect(answers.map(({ error }) => error?.data.error_code)).toEqual(batch.map(() => "AUTH_REQUIRED"));
  }
});

/** Status and code of so many calls of one kind in one request. */
async function batch(calls: number, headers: Record<string, string> = session): Promise<string> {
  const path = Array.from({ length: calls }, () => "identity.status").join(",");
  const response = await handleTrpc(new Request(`${origin}/api/trpc/${path}?batch=1&input=${encodeURIComponent("{}")}`, { headers }));
  const body = (await response.json()) as ({ error?: { data: ErrorBody } } | undefined)[] | { error?: { data: ErrorBody } };
  const [first] = [body].flat();
  return `${response.status} ${first?.error?.data.error_code ?? "OK"}`;
}

test("at most 20 calls come in one request, and each of them is counted, for a person and for an address apart", async () => {
  expect(await batch(21)).toBe("400 BAD_REQUEST");
  setSettings({ RATE_LIMIT_WEB: "100" });
  onTestFinished(() => setSettings({ RATE_LIMIT_WEB: "0" }));
  const many = async (headers: Record<string, string>, times: number, calls: number) => {
    for (let n = 0; n < times; n++) expect(await batch(calls, headers)).not.toContain("429");
    return batch(1, headers);
  };
  expect(await many({}, 2, 5)).toBe("429 RATE_LIMIT_EXCEEDED"); // 10 a minute of those who are not signed in
  expect(await many(session, 2, 20)).toBe("429 RATE_LIMIT_EXCEEDED"); // 40 of a person, whichever session asks
  const again = await encode({ token: { sub: ada.user.id, sid: randomUUID(), password_mark: passwordMark(null) }, secret });
  expect(await batch(1, { cookie: `${sessionCookieName(false)}=${again}` })).toBe("429 RATE_LIMIT_EXCEEDED");
  const grace = await database.newAdmin();
  const other = await encode({ token: { sub: grace.user.id, sid: randomUUID(), password_mark: passwordMark(null) }, secret });
  expect(await batch(1, { cookie: `${sessionCookieName(false)}=${other}` })).not.toContain("429");
});

test("what is sent as anything but JSON is 415, and who is not signed in sends no more than the entry pages do", async () => {
  const post = (headers: Record<string, string>, body = "{}") =>
    handleTrpc(new Request(`${origin}/api/trpc/projects.create`, { method: "POST", body, headers }));
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/octet-stream"]) {
    const response = await post({ ...session, origin, "content-type": type });
    expect([response.status, await response.json()]).toEqual([415, { detail: expect.any(String), error_code: "BAD_REQUEST", status: 415 }]);
  }
  const large = " ".repeat(65_537);
  expect((await post({ "content-type": "application/json" }, large)).status).toBe(413);
  expect((await post({ "content-type": "application/json" }, " ".repeat(65_000))).status).toBe(401);
  expect((await post({ ...session, origin, "content-type": "application/json; charset=utf-8" }, large)).status).toBe(400);
});
