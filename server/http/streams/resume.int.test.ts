import { beforeAll, beforeEach, expect, test, vi } from "vitest";
import { answerApi } from "#server/http/api.ts";
import type { KeyScope } from "#server/platform/auth/platform-key-schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { pool } from "#server/platform/db/client.ts";
import { sweep } from "#server/platform/db/sweep.ts";
import { log } from "#server/platform/log.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { cancelExecution } from "#server/runs/use-cases/cancel-execution.ts";
import { getExecution, getExecutionView } from "#server/runs/use-cases/get-execution.ts";
import { getExecutionLogs } from "#server/runs/use-cases/get-execution-logs.ts";
import { reviewSweep, waitSweep } from "#server/runs/waits/sweep-waits.ts";
import { type Golden, graphOf } from "#server/testing/golden-play.ts";
import { collectEvents } from "#server/testing/reviews.ts";
import { startStoredRun, storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
beforeAll(async () => {
  admin = await database.newAdmin();
});
beforeEach(() => void collectEvents());

const nodes: Golden["nodes"] = {
  t: ["triggerNode"],
  c: ["waitNode", { mode: "callback" }],
  o: ["outputNode", { value: "{{c.output}}" }],
  late: ["outputNode"],
};
const keyWith = (...scopes: KeyScope[]) =>
  ({ type: "platform_key", key_id: crypto.randomUUID(), scopes, project_ids: null, expires_at: null }) as const;
const go = (id: string) => claimAndExecute(storedServices(), id, 60);
const read = (execution_id: string) => getExecution(admin, { execution_id });

/** A run that waits for a call. @returns its id, and the address */
async function waiting(): Promise<{ id: string; url: string }> {
  const id = await startStoredRun(admin, graphOf({ nodes, edges: ["t>c", "c.done>o", "c.timed_out>late"] }), "tea");
  await go(id);
  return { id, url: (await read(id)).node_results.c?.resume_url ?? "" };
}

async function post(url: string, body?: string | Uint8Array, method = "POST"): Promise<{ status: number; body: unknown }> {
  const response = await answerApi(new Request(url, { method, ...(body !== undefined && { body: body as BodyInit }) }));
  return { status: response.status, body: await response.json() };
}

test("whoever has the address may bring a node's output, once; the run says the address as long as it waits", async () => {
  const { id, url } = await waiting();
  expect(url).toMatch(/^http:\/\/localhost:\d+\/api\/v1\/resume\/[\w-]{64}$/);
  const before = await read(id);
  expect(before).toMatchObject({ status: "running", node_results: { c: { status: "waiting", waits_until: expect.stringMatching(/Z$/) } } });
  expect((await read(id)).node_results.c?.resume_url).toBe(url);
  expect(await post(url, '{"paid": {"by": "Ada"}}')).toEqual({ status: 200, body: { status: "resumed" } });
  expect(await post(url, '{"paid": false}')).toMatchObject({
    status: 409,
    body: { error_code: "CONFLICT", detail: "This token was used already." },
  });
  await go(id);
  const after = await read(id);
  expect(after).toMatchObject({ status: "completed", output: '{"paid":{"by":"Ada"}}' });
  expect(after.node_results.c).not.toHaveProperty("resume_url");
  // Nothing that is kept or told lets anybody in.
  const token = url.split("/").at(-1) ?? "";
  const kept = await pool().query<{ text: string }>(
    `SELECT to_jsonb(w)::text AS text FROM waits w WHERE execution_id = $1 UNION ALL SELECT data::text FROM execution_events WHERE execution_id = $1
     UNION ALL SELECT to_jsonb(v)::text FROM node_runs r JOIN node_run_values v ON v.node_run_id = r.id WHERE r.execution_id = $1`,
    [id],
  );
  for (const { text } of kept.rows) expect(text).not.toContain(token);
  expect(JSON.stringify(await getExecutionLogs(admin, { execution_id: id }))).not.toContain(token);
});

test.each([
  ["a viewer", { role: "viewer" }, false],
  ["an approver", { role: "approver" }, true],
  ["a key that only reads", { auth: keyWith("read") }, false],
  ["a key that runs", { auth: keyWith("read", "run") }, true],
] as const)("the URL of a wait is shown to %s: %#", async (_who, as, isShown) => {
  const { id, url } = await waiting();

  const execution = await getExecution({ ...admin, ...as }, { execution_id: id });
  const view = await getExecutionView({ ...admin, ...as }, { execution_id: id });
  const logs = await getExecutionLogs({ ...admin, ...as }, { execution_id: id });

  expect(execution.node_results.c).toMatchObject({ status: "waiting" });
  expect(JSON.stringify([execution, view, logs]).includes(url)).toBe(isShown);
});

test.each([
  ["nothing", undefined, "{}"],
  ["a text", '"as it is"', "as it is"],
  ["a number", "12.50", "12.5"],
  ["a list", "[1, null]", "[1,null]"],
  [
    "long numbers, and fields in an order",
    '{"order": 12345678901234567890, "at": [-9007199254740993, 1.5]}',
    '{"order":12345678901234567890,"at":[-9007199254740993,1.5]}',
  ],
  ["a number longer than a database takes", `[${"9".repeat(200_000)}]`, `[${"9".repeat(200_000)}]`],
])("a call that brings %s", async (_, body, output) => {
  const { id, url } = await waiting();
  expect((await post(url, body)).status).toBe(200);
  await go(id);
  expect(await read(id)).toMatchObject({ status: "completed", output });
});

test("what cannot be taken leaves the run waiting", async () => {
  const { id, url } = await waiting();
  const other = (await waiting()).url.split("/").at(-1) ?? "";
  const [base, token = ""] = [url.slice(0, url.lastIndexOf("/")), url.split("/").at(-1)];
  const mixed = Buffer.concat([Buffer.from(token, "base64url").subarray(0, 16), Buffer.from(other, "base64url").subarray(16)]);
  for (const guess of ["x", "A".repeat(64), mixed.toString("base64url"), `${token}A`, token.slice(0, -1), "%00"])
    expect((await post(`${base}/${guess}`, "{}")).status, guess).toBe(404);
  expect((await post(url, "{no json")).status).toBe(400);
  expect((await post(url, new Uint8Array([0x22, 0xff, 0x22]))).status).toBe(400);
  expect((await post(url, `${"[".repeat(200)}${"]".repeat(200)}`)).status).toBe(422);
  expect((await post(url, `"${"x".repeat(1_000_001)}"`)).status).toBe(413);
  for (const method of ["PUT", "DELETE"]) expect((await post(url, undefined, method)).status).toBe(405);
  expect(await read(id)).toMatchObject({ status: "running", node_results: { c: { status: "waiting" } } });
  expect((await post(url, "1")).status).toBe(200);
});

test("what comes with a token that lets nobody in is not even read", async () => {
  const { url } = await waiting();
  const knock = async (to: string) => {
    let isRead = false;
    const pull = (controller: ReadableStreamDefaultController) => {
      isRead = true;
      controller.enqueue(new TextEncoder().encode("{}"));
      controller.close();
    };
    const body = new ReadableStream({ pull }, { highWaterMark: 0 });
    const { status } = await answerApi(new Request(to, { method: "POST", body, duplex: "half" } as RequestInit));
    return { status, isRead };
  };
  expect(await knock(`${url.slice(0, -1)}${url.endsWith("A") ? "E" : "A"}`)).toEqual({ status: 404, isRead: false });
  expect(await knock(url)).toEqual({ status: 200, isRead: true });
  expect(await knock(url)).toEqual({ status: 409, isRead: false });
});

test("of many calls at once one counts", async () => {
  const { id, url } = await waiting();
  const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => post(url, String(index))));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 409)]);
  await go(id);
  expect((await read(id)).output).toBe(String(answers.findIndex(({ status }) => status === 200)));
});

test("a call that comes too late changes nothing: the run has gone on by timed_out, or is over", async () => {
  const { id, url } = await waiting();
  await pool().query("UPDATE waits SET deadline = now() - interval '1 second' WHERE execution_id = $1", [id]);
  await sweep(waitSweep, reviewSweep);
  expect((await post(url, "1")).status).toBe(409);
  await go(id);
  expect(await read(id)).toMatchObject({ status: "completed", output: "tea", node_results: { late: { status: "complete" } } });
  const cancelled = await waiting();
  await cancelExecution(admin, { execution_id: cancelled.id });
  expect((await post(cancelled.url, "1")).status).toBe(409);
  expect((await read(cancelled.id)).status).toBe("cancelled");
});

test("a call that fails for a reason of the service leaves no token in the log, which would go on with the run", async () => {
  const { url } = await waiting();
  const token = url.split("/").at(-1) ?? "";
  const logged = vi.spyOn(log, "error").mockImplementation(() => undefined);
  const query = vi.spyOn(pool(), "query").mockImplementation(() => Promise.reject(new Error("The disk is full.")));
  try {
    expect((await post(url)).status).toBe(500);
  } finally {
    query.mockRestore();
  }
  expect(logged).toHaveBeenCalledWith(expect.objectContaining({ path: "/api/v1/resume/••••" }), expect.anything());
  expect(JSON.stringify(logged.mock.calls)).not.toContain(token);
  logged.mockRestore();
});
