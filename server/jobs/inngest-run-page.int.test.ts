import { createServer } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type InngestServer, startInngestServer } from "#e2e/fakes/inngest-server.ts";
import { listen } from "#e2e/fakes/listen.ts";
import { until } from "#e2e/until.ts";
import { answerInngest } from "#server/http/inngest.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { setSettings } from "#server/platform/settings.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { startStoredRun } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

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
    const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]);
    const url = `http://${request.headers.host}${request.url}`;
    const answer = await answerInngest(new Request(url, { method: request.method ?? "GET", headers, ...(body.length && { body }) }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  });
  const listening = await listen(app);
  address = `${listening.url}/api/inngest`;
  stopApp = listening.stop;
});
afterAll(async () => {
  await stopApp();
  await inngest.stop();
});
beforeEach(async () => {
  setSettings({ INNGEST_BASE_URL: inngest.url, INNGEST_EVENT_KEY: "event-key", INNGEST_SIGNING_KEY: SIGNING_KEY });
  admin = await database.newAdmin();
});

/** A run that waits for a review, carried by the server. @returns its id, and the id of the function run */
async function carried() {
  const node = (id: string, type: string) => ({ id, type, position, data: { label: id } });
  const nodes = [node("t", "triggerNode"), node("Check", "humanLoopNode"), node("o", "outputNode")];
  const edges = [
    { id: "tc", source: "t", target: "Check" },
    { id: "co", source: "Check", target: "o", sourceHandle: "approved" },
  ];
  const execution_id = await startStoredRun(admin, { nodes, edges });
  const isAsked = () => inngest.events.find(({ name, data }) => name === "execution/requested" && data.execution_id === execution_id);
  const event = await until(isAsked);
  const before = await getExecution(admin, { execution_id });
  await inngest.carry(address, { fnId: "treadle-run-workflow", event, steps: new Map() });
  return { execution_id, before, run_id: `run-of-${event.id}` };
}

test("an execution links to the function run that carries it", async () => {
  const { execution_id, before, run_id } = await carried();

  expect(before.inngest_run_url).toBeNull();
  const { inngest_run_url } = await getExecution(admin, { execution_id });
  expect(inngest_run_url).toBe(`${inngest.url}/run?runID=${run_id}`);
});

test("a viewer gets no link to the function run", async () => {
  const { execution_id } = await carried();

  expect((await getExecution({ ...admin, role: "viewer" }, { execution_id })).inngest_run_url).toBeNull();
});

test("INNGEST_RUN_URL is the address of the link", async () => {
  const { execution_id, run_id } = await carried();

  setSettings({ INNGEST_RUN_URL: "https://runs.example.com/env/production/runs/{id}" });

  const { inngest_run_url } = await getExecution(admin, { execution_id });
  expect(inngest_run_url).toBe(`https://runs.example.com/env/production/runs/${run_id}`);
});
