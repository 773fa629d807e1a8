import { createServer } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type FunctionRun, type InngestServer, type ReceivedEvent, startInngestServer } from "#e2e/fakes/inngest-server.ts";
import { listen } from "#e2e/fakes/listen.ts";
import { until } from "#e2e/until.ts";
import { approveExecution } from "#server/features/reviews/decide.ts";
import { answerInngest } from "#server/http/inngest.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { setDispatch } from "#server/runs/store/queue.ts";
import { startStoredRun } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

// Requests of one run that an Inngest server delivers late, or in another order.

const SIGNING_KEY = "00112233445566778899aabbccddeeff";
const database = testDatabase();
const position = { x: 0, y: 0 };
let inngest: InngestServer;
let address: string;
let stopApp: () => Promise<void>;
let admin: ProjectPrincipal;

beforeAll(async () => {
  inngest = await startInngestServer(SIGNING_KEY);
  const app = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const answer = await answerInngest(
      new Request(`http://${request.headers.host}${request.url}`, {
        method: request.method ?? "GET",
        headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        ...(body.length && { body }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  });
  const listening = await listen(app);
  address = `${listening.url}/api/inngest`;
  stopApp = listening.stop;
  setSettings({ INNGEST_BASE_URL: inngest.url, INNGEST_EVENT_KEY: "event-key", INNGEST_SIGNING_KEY: SIGNING_KEY });
});
afterAll(async () => {
  await stopApp();
  await inngest.stop();
});
beforeEach(async () => {
  admin = await database.newAdmin();
});

const statusOf = async (id: string) => (await db().execution.findUniqueOrThrow({ where: { id } })).status;
const sent = (name: string, id: string): ReceivedEvent[] =>
  inngest.events.filter((event) => event.name === name && event.data.execution_id === id);

async function startReviewed(): Promise<string> {
  const node = (id: string, type: string) => ({ id, type, position, data: { label: id } });
  const nodes = [node("t", "triggerNode"), node("Check", "humanLoopNode"), node("o", "outputNode")];
  const edges = [
    { id: "tc", source: "t", target: "Check" },
    { id: "co", source: "Check", target: "o", sourceHandle: "approved" },
  ];
  const id = await startStoredRun(admin, { nodes, edges });
  await until(() => sent("execution/requested", id).length === 1);
  return id;
}

/** A function run at the server that the request with this number starts. */
function deliver(id: string, dispatch: number): FunctionRun {
  const [first] = sent("execution/requested", id) as [ReceivedEvent];
  const event = { ...first, id: `${id}-${dispatch}`, data: { ...first.data, dispatch } };
  return { fnId: "treadle-run-workflow", event, steps: new Map() };
}

async function approve(id: string, run: FunctionRun, wait: Awaited<ReturnType<InngestServer["carry"]>>): Promise<void> {
  if (typeof wait !== "object") throw new Error(`The run does not wait: ${wait}`);
  await approveExecution(admin, { execution_id: id, decision: "approved" });
  run.steps.set(wait.id, await until(() => sent("execution/wake", id)[0]));
}

test("an older request goes on when a newer one was only counted", async () => {
  const id = await startReviewed();
  const { project_id } = await db().execution.findUniqueOrThrow({ where: { id } });
  await setDispatch({ execution_id: id, project_id, dispatch: 1 });
  const older = deliver(id, 0);

  await approve(id, older, await inngest.carry(address, older));
  await inngest.carry(address, older);

  expect(await statusOf(id)).toBe("completed");
});

test("an older request ends once a newer one has claimed the run", async () => {
  const id = await startReviewed();
  const older = deliver(id, 0);
  const newer = deliver(id, 1);
  const wait = await inngest.carry(address, older);
  const newerWait = await inngest.carry(address, newer);

  await approve(id, older, wait);
  expect(await inngest.carry(address, older)).toBeUndefined();
  expect(await statusOf(id)).toBe("paused");

  if (typeof newerWait === "object") newer.steps.set(newerWait.id, sent("execution/wake", id)[0]);
  await inngest.carry(address, newer);
  expect(await statusOf(id)).toBe("completed");
});
