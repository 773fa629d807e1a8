import { expect, test } from "@playwright/test";
import pg from "pg";
import { graphOf } from "#e2e/api/graphs.ts";
import { apiClient } from "#e2e/api-client.ts";
import { type FunctionRun, type InngestServer, type ReceivedEvent, startInngestServer } from "#e2e/fakes/inngest-server.ts";
import { newDataDir, startTreadle, type Treadle } from "#e2e/server.ts";
import { noLimits, onPostgres } from "#e2e/system/install.ts";
import { newDatabase, type OwnPostgres } from "#e2e/system/own-postgres.ts";
import { until } from "#e2e/until.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { freePort } from "#server/platform/db/embedded.ts";
import { ExecuteResult, Execution } from "#server/runs/schema.ts";

// An Inngest server that is away, hangs or cannot be understood: nobody who asks us for something waits for it, everybody can
// see what is wrong, and what it missed it gets.

const key = `sk-service-${"inngests".repeat(5)}`;
const SIGNING_KEY = "00112233445566778899aabbccddeeff";
const OTHER_KEY = "ffeeddccbbaa99887766554433221100";
const EVENT_KEY = "event-key-1";
const FUNCTION = "treadle-run-workflow";

/** A run that might ask a person, and so is for the server. */
const asking = (nodes: Parameters<typeof graphOf>[0], edges: string[]) =>
  graphOf({ ...nodes, never: ["branch", { condition: "False" }], r: ["humanLoop"] }, [...edges, "t>never", "never.true>r"]);
const serversGraph = asking({ t: ["trigger"], o: ["output"] }, ["t>o"]);

let postgres: Pick<OwnPostgres, "url" | "stop">;
let place: { dataDir: string; env: Record<string, string> };
let server: Treadle;
/** At the same address in each test. */
let inngest: InngestServer;
let inngestPort: number;

test.beforeAll(async () => {
  [postgres, inngestPort] = [await newDatabase(), await freePort()];
  const settings = { INNGEST_BASE_URL: `http://127.0.0.1:${inngestPort}`, INNGEST_EVENT_KEY: EVENT_KEY, INNGEST_SIGNING_KEY: SIGNING_KEY };
  place = { dataDir: newDataDir(), env: { ...onPostgres(postgres, key), ...noLimits, ...settings } };
  server = await startTreadle(place);
});
test.afterAll(async () => {
  await server.stop();
  await postgres.stop();
});
test.beforeEach(async () => {
  inngest = await startInngestServer(SIGNING_KEY, inngestPort);
});
test.afterEach(() => inngest.stop());

/** Lets the seconds go by after which runs are asked for again, and decisions told again. */
async function elapse(): Promise<void> {
  const database = new pg.Client(postgres.url);
  await database.connect();
  await database.query("UPDATE executions SET run_at = now() WHERE status = 'pending' AND run_at > now()");
  await database.query("UPDATE waits SET resolved_at = resolved_at - interval '3 seconds' WHERE taken_at IS NULL");
  await database.end();
}

function clientOf(url: string) {
  const api = apiClient({ url, key });
  const save = async (name: string, graph: ReturnType<typeof graphOf>) =>
    (await api.post("/workflows", { name, ...graph }, { schema: Workflow, status: 201 })).body.id;
  const execute = async (workflow_id: string) =>
    (await api.post(`/workflows/${workflow_id}/execute`, { input: "x" }, { schema: ExecuteResult, status: 202 })).body.execution_id;
  const read = async (id: string) => (await api.get(`/executions/${id}`, { schema: Execution })).body;
  const ready = async () => (await fetch(`${url}/api/health/ready`)).json();
  return { api, save, execute, read, ready };
}

const requests = (inngest: InngestServer, id: string): ReceivedEvent[] =>
  inngest.events.filter(({ name, data }) => name === "execution/requested" && data.execution_id === id);
const newRun = (event: ReceivedEvent | undefined): FunctionRun => {
  if (!event) throw new Error("It was not asked for.");
  return { fnId: FUNCTION, event, steps: new Map() };
};

test("wrong keys, a clock that is off and a server that is gone are told by name, and no key with them", async () => {
  const { save, execute, ready } = clientOf(server.url);
  const address = `${server.url}/api/inngest`;
  const pure = await save("Pure", serversGraph);
  const texts: string[] = [];
  const tells = (reason: string, status = "degraded") =>
    until(async () => {
      const body = await ready();
      texts.push(JSON.stringify(body));
      return body.executor?.last_refusal?.reason === reason && body.status === status;
    });

  // The first calls, before any was let in.
  expect(await inngest.register(address, { isSigned: false })).toBe(401);
  await tells("unsigned");
  expect(await inngest.register(address, { key: OTHER_KEY })).toBe(401);
  await tells("signing_key");
  expect(await inngest.register(address, { clockOff: -360 })).toBe(401);
  await tells("clock");
  expect(await inngest.register(address, { clockOff: -240 })).toBe(200);
  const asked = await execute(pure);
  await until(async () => (await ready()).status === "ready");
  const run = newRun(await until(() => requests(inngest, asked)[0]));

  inngest.be("other key");
  await execute(pure);
  await tells("event_key");
  await inngest.stop();
  await execute(pure);
  await tells("no_server");
  inngest = await startInngestServer(SIGNING_KEY, inngestPort);
  await elapse();
  await until(async () => (await ready()).status === "ready", 40_000);
  // While the server is heard, a stranger's call is told of, and worries nobody.
  await until(async () => {
    expect(await inngest.carry(address, run, { key: OTHER_KEY })).toBe(401);
    return (await ready()).executor.last_refusal.reason === "signing_key";
  });
  expect((await ready()).status).toBe("ready");
  expect(await inngest.carry(address, run)).toBeUndefined();

  for (const secret of [SIGNING_KEY, OTHER_KEY, EVENT_KEY, inngest.url]) expect(texts.filter((text) => text.includes(secret))).toEqual([]);
});

test("a function ends as its execution did, with ids and states only, and a failed one is not tried again", async () => {
  const { save, execute, read } = clientOf(server.url);
  const address = `${server.url}/api/inngest`;
  const failing = asking({ t: ["trigger"], f: ["branch", { condition: "int(output) == 1 and 'secret-words' != ''" }], o: ["output"] }, [
    "t>f",
    "f.true>o",
  ]);
  const carried = async (graph: ReturnType<typeof graphOf>, name: string) => {
    const id = await execute(await save(name, graph));
    const run = newRun(await until(() => requests(inngest, id)[0]));
    await inngest.carry(address, run);
    return { id, run };
  };
  const good = await carried(serversGraph, "Good");
  expect(await read(good.id)).toMatchObject({ status: "completed" });
  expect(inngest.ends).toEqual([expect.objectContaining({ status: 200, body: { status: "completed" } })]);

  const bad = await carried(failing, "Bad");
  expect(await read(bad.id)).toMatchObject({ status: "failed" });
  expect(inngest.ends.at(-1)).toMatchObject({
    status: 400,
    isRetried: false,
    body: { name: "NonRetriableError", message: "The execution failed. Its page in Treadle tells why." },
  });
  // Were it called again all the same, by a server that lost the answer, it would do nothing and end in the same way.
  const epochs = async () => {
    const database = new pg.Client(postgres.url);
    await database.connect();
    const { rows } = await database.query("SELECT lease_epoch, last_seq FROM executions WHERE id = $1", [bad.id]);
    await database.end();
    return rows;
  };
  const once = await epochs();
  await inngest.carry(address, bad.run);
  await inngest.carry(address, { ...bad.run, steps: new Map() });
  expect(inngest.ends.slice(-2)).toMatchObject([{ isRetried: false }, { isRetried: false }]);
  expect(await epochs()).toEqual(once);
  for (const secret of ["secret-words", "node_modules", "server/inngest"])
    expect(inngest.texts.filter((text) => text.includes(secret))).toEqual([]);
  expect(server.logs()).not.toContain("NonRetriableError");
});

test("an Inngest server that hangs holds up no answer; what it missed it gets when it answers, and after a restart under new ids", async () => {
  const { api, save, execute, read, ready } = clientOf(server.url);
  const address = `${server.url}/api/inngest`;
  const reviewed = await save("Reviewed", graphOf({ t: ["trigger"], r: ["humanLoop"], o: ["output"] }, ["t>r", "r.approved>o"]));
  const pure = await save("Pure", serversGraph);
  const http = { kind: "http", response_mode: "sync", allowed_methods: ["POST"] };
  const waitedFor = await save("Waited for", asking({ t: ["trigger", http], o: ["output"] }, ["t>o"]));

  const paused = [await execute(reviewed), await execute(reviewed)];
  for (const id of paused) {
    await until(() => requests(inngest, id).length > 0);
    expect(await inngest.carry(address, newRun(requests(inngest, id)[0]))).toMatchObject({ event: "execution/wake" });
  }
  await until(async () => (await ready()).status === "ready");

  inngest.be("hanging");
  const [approved = "", cancelled = ""] = paused;
  const started = await execute(pure);
  await api.post(`/executions/${approved}/approve`, { decision: "approved" }, { schema: Execution, status: 200 });
  await api.post(`/executions/${cancelled}/cancel`, {}, { schema: Execution, status: 200 });
  // A caller who waits for the result learns that there will be none soon, and where to look for it.
  const { body: unanswered } = await api.post(`/http/${waitedFor}`, { x: 1 }, { status: 202 });
  expect(unanswered).toEqual({ execution_id: expect.any(String), status: "pending" });
  const told = await until(async () => {
    const body = await ready();
    return body.status === "degraded" ? body : undefined;
  });
  expect(told).toMatchObject({ database: "up", executor: { kind: "inngest", last_refusal: { reason: "no_answer" } } });
  expect(told.executor.problem).toContain("does not answer");

  // The sweeper is the net.
  inngest.be("well");
  await elapse();
  const lost = [started, unanswered.execution_id];
  for (const id of lost) await until(() => requests(inngest, id).length > 0, 40_000);
  await until(() => inngest.events.some(({ name, data }) => name === "execution/wake" && data.execution_id === approved), 40_000);
  expect(await inngest.carry(address, newRun(requests(inngest, started)[0]))).toBeUndefined();
  expect(await read(started)).toMatchObject({ status: "completed" });
  await until(async () => (await ready()).status === "ready");

  // A server puts its tries off for minutes while nobody answers, and takes no event twice: what has not begun is asked for anew.
  const before = requests(inngest, unanswered.execution_id).map(({ id }) => id);
  await server.kill9();
  server = await startTreadle(place);
  const again = await until(() => requests(inngest, unanswered.execution_id).find(({ id }) => !before.includes(id)), 40_000);
  expect(Number(again.data.dispatch)).toBeGreaterThan(0);
  expect(await inngest.carry(`${server.url}/api/inngest`, newRun(again))).toBeUndefined();
  expect(await clientOf(server.url).read(unanswered.execution_id)).toMatchObject({ status: "completed" });
});
