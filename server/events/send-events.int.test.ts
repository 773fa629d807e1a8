import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { listen } from "#e2e/fakes/listen.ts";
import { until } from "#e2e/until.ts";
import { executorContact, isClockInSync, noteCall, problemOf } from "#server/events/contact.ts";
import { sendEvents } from "#server/events/send-events.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { sweep } from "#server/platform/db/sweep.ts";
import { setSettings } from "#server/platform/settings.ts";
import { requestAnew } from "#server/runs/store/queue.ts";
import { startRun } from "#server/runs/use-cases/start-execution.ts";
import { executionSweep } from "#server/runs/use-cases/sweep-executions.ts";
import { reviewSweep, waitSweep } from "#server/runs/waits/sweep-waits.ts";
import { dispatchRuns, requestRuns } from "#server/runs/worker/dispatch.ts";
import { testDatabase } from "#server/testing/test-database.ts";

// Events for an Inngest server, which may be away or hang.

interface Sent {
  id: string;
  data: { execution_id: string; dispatch: number };
}

const database = testDatabase();
let admin: ProjectPrincipal;
let answer: (request: IncomingMessage, response: ServerResponse, events: Sent[]) => void;
let received: Sent[][];
let underWay = 0;
let mostUnderWay = 0;

const well: typeof answer = (_request, response, events) => response.end(JSON.stringify({ ids: events.map(({ id }) => id), status: 200 }));
const hanging: typeof answer = () => undefined;

const server = createServer(async (request, response) => {
  underWay += 1;
  mostUnderWay = Math.max(mostUnderWay, underWay);
  response.once("close", () => {
    underWay -= 1;
  });
  const events = JSON.parse(Buffer.concat(await request.toArray()).toString()) as Sent[];
  received.push(events);
  answer(request, response, events);
});
let stop: () => Promise<void>;
beforeAll(async () => {
  const listening = await listen(server);
  stop = listening.stop;
  setSettings({ INNGEST_BASE_URL: listening.url, INNGEST_EVENT_KEY: "event-key", INNGEST_SIGNING_KEY: "00", EXECUTIONS_PER_HOUR: "0" });
});
afterAll(() => stop());
beforeEach(async () => {
  admin = await database.newAdmin();
  [answer, received, mostUnderWay] = [well, [], 0];
  noteCall(null, 200); // a server that never calls is a problem of its own, once this process is some minutes old
  await pool().query("UPDATE executions SET run_at = NULL"); // of earlier tests
});

const position = { x: 0, y: 0 };

async function accept() {
  const review = { id: "h", type: "humanLoopNode", position, data: { label: "Look" } };
  const nodes = [{ id: "t", type: "triggerNode", position, data: { label: "Start" } }, review];
  const workflow = await createWorkflow(admin, {
    name: `W ${crypto.randomUUID()}`,
    nodes,
    edges: [{ id: "th", source: "t", target: "h" }],
  });
  const { snapshot_id } = await db().workflow.findUniqueOrThrow({ where: { id: workflow.id } });
  const common = { project_id: admin.project.id, workflow_id: workflow.id, workflow_version: 1, snapshot_id, started_by_id: admin.user.id };
  return startRun({ ...common, trigger: "manual", input: "x", params: null });
}
const row = (id: string) => db().execution.findUniqueOrThrow({ where: { id } });
const elapse = (id: string, seconds: number) =>
  pool().query(
    "UPDATE executions SET created_at = created_at - make_interval(secs => $2), run_at = run_at - make_interval(secs => $2) WHERE id = $1",
    [id, seconds],
  );
const asked = (id: string) =>
  received
    .flat()
    .filter(({ data }) => data.execution_id === id)
    .map((event) => event.id);
const requestsOf = (count: number) =>
  Array.from({ length: count }, () => ({ execution_id: crypto.randomUUID(), project_id: crypto.randomUUID(), dispatch: 0 }));

test("a run is accepted while the server hangs, which is found out afterwards and kept with its reason", async () => {
  answer = hanging;
  const run = await accept();
  expect(await row(run.execution_id)).toMatchObject({ status: "pending" });
  expect(await run.dispatched).toBe(false);
  // One try: the server was asked once, and is let go of.
  expect(asked(run.execution_id)).toEqual([`${run.execution_id}-0`]);
  await until(() => underWay === 0);
  await until(async () => (await executorContact()).last_refusal?.reason === "no_answer");
  expect((await executorContact()).problem).toContain("does not answer within 2 seconds");
});

test("however many ask, a few requests are under way, and what waits behind one that fails is not tried on and on", async () => {
  answer = hanging;
  const outcomes = await Promise.all(requestsOf(1000).map((run) => requestRuns([run])));
  expect(new Set(outcomes)).toEqual(new Set([false]));
  expect(mostUnderWay).toBeLessThanOrEqual(4);
  expect(received.length).toBeLessThanOrEqual(8);
  answer = well;
  received = [];
  const runs = requestsOf(1000);
  expect(new Set(await Promise.all(runs.map((run) => requestRuns([run]))))).toEqual(new Set([true]));
  expect(received.flat()).toHaveLength(1000);
  expect(received.length).toBeLessThanOrEqual(20);
});

test("who asks off the way of an answer does not wait for the server", async () => {
  answer = hanging;
  const [run] = requestsOf(1);
  if (run) void dispatchRuns([run]);
  await until(() => received.length > 0);
  expect(underWay).toBe(1); // it was still asked when the caller went on
  expect(await sendEvents([])).toBe(true);
});

test("a sweep that waits for the server keeps nothing from the next process", async () => {
  const [first, second] = [await accept(), await accept()];
  await Promise.all([first.dispatched, second.dispatched]);
  received = [];
  await elapse(first.execution_id, 11);
  answer = hanging;
  const slow = sweep(waitSweep, reviewSweep, executionSweep);
  await until(() => received.length > 0);
  await elapse(second.execution_id, 11);
  // Whoever sweeps now takes what has come due since, and not what is being asked for.
  const taken = sweep(waitSweep, reviewSweep, executionSweep);
  await until(async () => Number((await row(second.execution_id)).run_at) > Date.now());
  const { rows } = await pool().query(
    "SELECT count(*)::int AS held FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
  );
  expect(rows).toEqual([{ held: 0 }]);
  await Promise.all([slow, taken]);
  for (const { execution_id } of [first, second]) expect(asked(execution_id)).toHaveLength(1);
});

test("a run that nobody begins is asked for as it was, after a minute anew, and at the start of a process at once", async () => {
  const { execution_id } = await accept();
  await until(() => asked(execution_id).length === 1);
  await elapse(execution_id, 11);
  await sweep(waitSweep, reviewSweep, executionSweep);
  expect(asked(execution_id)).toEqual([`${execution_id}-0`, `${execution_id}-0`]);
  await elapse(execution_id, 40);
  await sweep(waitSweep, reviewSweep, executionSweep);
  expect(asked(execution_id)).toHaveLength(2);
  await elapse(execution_id, 11);
  await sweep(waitSweep, reviewSweep, executionSweep);
  expect(asked(execution_id).at(-1)).toBe(`${execution_id}-1`);
  await requestAnew();
  await sweep(waitSweep, reviewSweep, executionSweep);
  expect(asked(execution_id)).toHaveLength(4);
  expect(new Set(asked(execution_id)).size).toBe(3);
  expect((await row(execution_id)).dispatch).toBeGreaterThan(1);
});

test("after minutes without a server everything that was accepted meanwhile is asked for with the first sweep", async () => {
  server.closeAllConnections();
  answer = (_request, response) => void response.destroy();
  // Ten at once, so that none waits long for a connection.
  for (let accepted = 0; accepted < 150; accepted += 10) {
    const runs = await Promise.all(Array.from({ length: 10 }, accept));
    await Promise.all(runs.map((run) => run.dispatched));
  }
  for (let round = 1; round <= 3; round++) {
    await pool().query(
      "UPDATE executions SET run_at = now() - interval '1 second', created_at = created_at - interval '1 minute' WHERE run_at IS NOT NULL",
    );
    await sweep(waitSweep, reviewSweep, executionSweep);
  }
  received = [];
  answer = well;
  await pool().query("UPDATE executions SET run_at = now() - interval '1 second' WHERE run_at IS NOT NULL");
  await sweep(waitSweep, reviewSweep, executionSweep);
  expect(new Set(received.flat().map(({ data }) => data.execution_id)).size).toBe(150);
  expect(received).toHaveLength(2);
});

const isInngest = { "x-inngest-server-kind": "self-hosted" };
const unknownKey = (status: number) => `{"error":"Event key not found","status":${status}}`;

test.each([
  ["event_key", (response: ServerResponse) => response.writeHead(401, isInngest).end(unknownKey(401))],
  ["event_key", (response: ServerResponse) => response.writeHead(404, isInngest).end(unknownKey(404))],
  ["event_key", (response: ServerResponse) => response.writeHead(401).end(unknownKey(401))],
  ["address", (response: ServerResponse) => response.writeHead(401).end('{"error":"Unauthorized","status":401}')],
  ["address", (response: ServerResponse) => response.writeHead(403).end("Forbidden")],
  ["address", (response: ServerResponse) => response.writeHead(400).end('{"error":"Bad request"}')],
  ["address", (response: ServerResponse) => response.writeHead(404).end("<h1>Not found</h1>")],
  ["address", (response: ServerResponse) => response.writeHead(200).end("<h1>Welcome</h1>")],
  ["error", (response: ServerResponse) => response.writeHead(500, isInngest).end('{"error":"out of memory"}')],
] as const)("a refusal is told as %s", async (reason, refuse) => {
  answer = (_request, response) => void refuse(response);
  expect(await requestRuns(requestsOf(1))).toBe(false);
  await until(async () => (await executorContact()).last_refusal?.reason === reason);
  answer = well;
  expect(await requestRuns(requestsOf(1))).toBe(true);
  await until(async () => (await executorContact()).problem === null);
});

test("another service at the address is reported as no Inngest server", async () => {
  answer = (_request, response) => void response.writeHead(401).end('{"error":"Unauthorized","status":401}');
  expect(await requestRuns(requestsOf(1))).toBe(false);

  await until(async () => (await executorContact()).problem?.startsWith("No Inngest server at this address"));
});

test.each([
  [0, true],
  [1, true],
  [3, false],
  [-3, false],
  [60, false],
])("a server whose clock is %i s off is in sync: %s", (seconds, isInSync) => {
  noteCall(`t=${Math.floor(Date.now() / 1000) + seconds}&s=00`, 206);

  expect(isClockInSync()).toBe(isInSync);
});

test("a refused call says nothing about the server's clock", () => {
  noteCall(`t=${Math.floor(Date.now() / 1000) + 60}&s=00`, 206);
  noteCall(`t=${Math.floor(Date.now() / 1000)}&s=00`, 401);

  expect(isClockInSync()).toBe(false);
});

test("of two news the later one counts, also where the first takes longer to be written", async () => {
  const query = pool().query.bind(pool());
  const gate = Promise.withResolvers<void>();
  const refusals: Promise<unknown>[] = [];
  const spy = vi.spyOn(pool(), "query").mockImplementation(((...args: Parameters<typeof query>) => {
    if (!String(args[0]).includes("event_refused_at = now()")) return query(...args);
    const written = gate.promise.then(() => query(...args));
    refusals.push(written);
    return written;
  }) as typeof query);
  onTestFinished(() => spy.mockRestore());
  answer = (_request, response) => void response.writeHead(500, isInngest).end('{"error":"out of memory"}');
  expect(await requestRuns(requestsOf(1))).toBe(false);
  answer = well;
  expect(await requestRuns(requestsOf(1))).toBe(true);
  await until(() => refusals.length === 1);
  gate.resolve();
  await Promise.all(refusals);
  await until(async () => (await executorContact()).problem === null);
});

test("what is wrong is judged by what came after", () => {
  const at = (seconds: number) => new Date(seconds * 1000);
  const nothing = {
    ...{ event_taken_at: null, event_refused_at: null, event_refusal: null },
    ...{ call_at: null, call_refused_at: null, call_refusal: null },
  };
  const judged = (row: Partial<typeof nothing> | Record<string, unknown>, now = 1000, startedAt = 900) =>
    problemOf({ ...nothing, ...row } as Parameters<typeof problemOf>[0], now * 1000, startedAt * 1000);
  expect(problemOf(undefined, 1000_000, 900_000)).toBeNull();
  expect(judged({ event_refused_at: at(950), event_refusal: "event_key" })).toBe("event_key");
  expect(judged({ event_refused_at: at(950), event_refusal: "event_key", event_taken_at: at(960) })).toBeNull();
  // Nobody has called yet: for a while that is no wonder, unless a call was refused.
  expect(judged({}, 1040)).toBeNull();
  expect(judged({}, 1060)).toBe("no_call");
  expect(judged({ call_refused_at: at(950), call_refusal: "clock" })).toBe("clock");
  // It is heard, and a stranger's calls change nothing.
  expect(judged({ call_at: at(950), call_refused_at: at(990), call_refusal: "signing_key" })).toBeNull();
  expect(judged({ call_at: at(950), call_refused_at: at(990), call_refusal: "signing_key" }, 1200)).toBe("signing_key");
  expect(judged({ call_at: at(950) }, 1200)).toBe("no_call");
});
