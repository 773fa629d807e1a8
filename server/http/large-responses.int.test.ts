import { randomBytes } from "node:crypto";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { createPlatformKey } from "#server/features/platform-keys/service.ts";
import { reviewToken } from "#server/features/reviews/link.ts";
import { getReview } from "#server/features/reviews/read.ts";
import { Review } from "#server/features/reviews/schema.ts";
import { answerApi } from "#server/http/api.ts";
import { forPages } from "#server/http/pages.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { Execution, ExecutionView } from "#server/runs/schema.ts";
import { getExecution, getExecutionView } from "#server/runs/use-cases/get-execution.ts";
import { getExecutionLogs } from "#server/runs/use-cases/get-execution-logs.ts";
import { getNodeOutput } from "#server/runs/use-cases/get-node-output.ts";
import { bridgeOf, ORIGIN } from "#server/testing/bridge.ts";
import { newPausedRun, openReview } from "#server/testing/reviews.ts";
import { startStoredRun, storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";
import type { Graph } from "#server/workflow/schema.ts";

const database = testDatabase();
const MIB = 1024 * 1024;
const position = { x: 0, y: 0 };

/** Characters that JSON escapes, and some of two units. */
const input = '🧵 "tea"\\\n\u0001é '.repeat(60_000);
const graph = {
  nodes: [
    { id: "t", type: "triggerNode", position, data: { label: "Start" } },
    { id: "a", type: "outputNode", position, data: { label: "Long", value: "{{trigger.output}}".repeat(4) } },
    { id: "b", type: "outputNode", position, data: { label: "Short", value: "short" } },
    { id: "c", type: "outputNode", position, data: { label: "Middle", value: "{{trigger.output | slice(0, 150000)}}" } },
    { id: "d", type: "outputNode", position, data: { label: "Middle too", value: "{{trigger.output | slice(7, 150000)}}" } },
  ],
  edges: ["a", "b", "c", "d"].map((target) => ({ id: target, source: "t", target })),
};

let admin: ProjectPrincipal;
let key: string;
let execution_id: string;
beforeAll(async () => {
  setSettings({ APP_URL: ORIGIN });
  admin = await database.newAdmin();
  ({ key } = await createPlatformKey(admin, { name: "CI" }));
  execution_id = await startStoredRun(admin, graph, input);
  await claimAndExecute(storedServices(), execution_id, 60);
});

const get = (path: string) => answerApi(new Request(`${ORIGIN}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } }));

async function readWhole(path: string): Promise<{ status: number; text: string }> {
  const response = await get(path);
  return { status: response.status, text: await response.text() };
}

/** Runs a workflow up to a review of a long text. @returns the review's id */
async function startReview(): Promise<string> {
  const long = { label: "Check", title: "Good?", display_value: "{{trigger.output}}".repeat(4) };
  const nodes = [graph.nodes[0], { id: "r", type: "humanLoopNode", position, data: long }] as Graph["nodes"]; // cast: the first is there
  const id = await startStoredRun(admin, { nodes, edges: [{ id: "r", source: "t", target: "r" }] }, input);
  await claimAndExecute(storedServices(), id, 60);
  return (await db().wait.findFirstOrThrow({ where: { execution_id: id } })).id;
}

/** Runs a workflow with one long Output, which hardly can be compressed. @returns the execution's id */
async function startLong(): Promise<string> {
  const one = { nodes: graph.nodes.slice(0, 2), edges: graph.edges.slice(0, 1) };
  const id = await startStoredRun(admin, one, randomBytes(400_000).toString("base64"));
  await claimAndExecute(storedServices(), id, 60);
  return id;
}

/** Counts the characters of texts that are read from the database. */
function countCharacters(): () => number {
  let characters = 0;
  const count = (value: unknown): void => {
    if (typeof value === "string") characters += value.length;
    else if (typeof value === "object" && value !== null) for (const part of Object.values(value)) count(part);
  };
  const { query } = pool();
  const spy = vi.spyOn(pool(), "query").mockImplementation(async function (this: unknown, ...args: unknown[]) {
    const result = await Reflect.apply(query, pool(), args);
    count(result?.rows);
    return result;
  } as never); // cast: of the overloads only the one with a promise is called
  onTestFinished(() => spy.mockRestore());
  return () => characters;
}

test.each([
  ["an execution", () => `/executions/${execution_id}`, async () => Execution.parse(await getExecution(admin, { execution_id }))],
  ["logs", () => `/executions/${execution_id}/logs`, () => getExecutionLogs(admin, { execution_id })],
  [
    "logs of a node",
    () => `/executions/${execution_id}/logs?node_id=a&iteration=`,
    () => getExecutionLogs(admin, { execution_id, node_id: "a", iteration: "" }),
  ],
  [
    "the output of a node",
    () => `/executions/${execution_id}/nodes/a/output`,
    () => getNodeOutput(admin, { execution_id, node_id: "a", iteration: "" }),
  ],
])("sends %s with long texts as the same JSON as whole", async (_, path, whole) => {
  const response = await get(path());

  expect([response.status, response.headers.get("content-type"), response.headers.get("cache-control")]).toEqual([
    200,
    "application/json",
    "no-store, no-transform",
  ]);
  expect((await response.text()) === JSON.stringify(await whole())).toBe(true);
});

test("sends the outputs so far of a cancelled run as the same JSON as whole", async () => {
  await db().execution.update({ where: { id: execution_id }, data: { status: "cancelled", values: { update: { outputs: [] } } } });
  const { outputs } = (await db().executionValues.findUniqueOrThrow({ where: { execution_id } })) as { outputs: unknown };
  expect(outputs).toEqual([]);

  const text = await (await get(`/executions/${execution_id}`)).text();

  const whole = await getExecution(admin, { execution_id });
  expect(whole.outputs.map(({ value }) => value.length)).toEqual([4 * input.length, 5, 162_500, 162_492]);
  expect(text === JSON.stringify(Execution.parse(whole))).toBe(true);
});

test("sends the page's view of a run as the same JSON as whole", async () => {
  const { headers } = await bridgeOf(admin);
  const call = encodeURIComponent(JSON.stringify({ execution_id }));

  const response = await answerApi(new Request(`${ORIGIN}/api/trpc/executions.view?input=${call}`, { headers }));

  const data = ExecutionView.parse(await getExecutionView(admin, { execution_id }));
  expect((await response.text()) === JSON.stringify({ result: { data } })).toBe(true);
});

test("sends a review with a long text as the same JSON as whole", async () => {
  const { id: review_id } = await openReview(await newPausedRun(admin), "a", { display_value: input });

  const text = await (await get(`/reviews/${review_id}`)).text();

  expect(text === JSON.stringify(Review.parse(await getReview(admin, { review_id })))).toBe(true);
});

test("reads 64 Ki characters for each of 60 unread long responses", async () => {
  const characters = countCharacters();

  const responses = await Promise.all(Array.from({ length: 60 }, () => get(`/executions/${execution_id}/nodes/a/output`)));
  const readers = responses.map(({ body }) => body?.getReader());
  for (const reader of readers) for (let reads = 0; reads < 3; reads++) await reader?.read();

  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
  expect(characters()).toBeLessThan(8 * MIB);
  for (const reader of readers) await reader?.cancel();
});

test("leaves a text that is too long out of a page", async () => {
  const execution = await newPausedRun(admin);
  const notification_email = "reviewer@example.com";
  const long = await openReview(execution, "a", { display_value: input, notification_email });
  const short = await openReview(execution, "b", { notification_email });
  const read = ({ id }: { id: string }) =>
    forPages.readForPage(new Headers(), (caller) => caller.reviews.byLink({ token: reviewToken(id, new Date(Date.now() + 60_000)) }));

  expect(await read(long)).toBeNull();
  expect(await read(short)).toMatchObject({ display_value: "Text" });
});

/** Records the end of the range of each piece of a text that is read, in characters of the text that it is cut from. */
function recordRanges(): number[] {
  const ends: number[] = [];
  const { query } = pool();
  const spy = vi.spyOn(pool(), "query").mockImplementation(function (this: unknown, ...args: unknown[]) {
    const [{ text = "", values = [] }] = args as [{ text?: string; values?: unknown[] }]; // cast: statements with a name are objects
    const [, from, length] = /substr\(\S+, \$(\d+)::int, \$(\d+)::int\)/.exec(text) ?? [];
    if (from && length) ends.push(Number(values[Number(from) - 1]) + Number(values[Number(length) - 1]));
    return Reflect.apply(query, pool(), args);
  } as never); // cast: of the overloads only the one with a promise is called
  onTestFinished(() => spy.mockRestore());
  return ends;
}

test.each([
  ["an execution", () => startLong().then((id) => `/executions/${id}`)],
  ["a review", () => startReview().then((id) => `/reviews/${id}`)],
])("reads no long text of %s from its beginning for each piece", async (_, path) => {
  const address = await path();
  const ends = recordRanges();

  const { status } = await readWhole(address);

  expect(status).toBe(200);
  expect(ends.length).toBeGreaterThan(4);
  expect(Math.max(...ends)).toBeLessThan(2 * MIB);
});

/** Counts the blocks of 8 KiB that the database reads for a statement that is sent by this name. */
async function blocksOf(name: string, work: () => Promise<unknown>): Promise<number> {
  const { query } = pool();
  let sent: { text: string; values: unknown[] } | undefined;
  const spy = vi.spyOn(pool(), "query").mockImplementation(function (this: unknown, ...args: unknown[]) {
    const [statement] = args as [{ name?: string; text: string; values: unknown[] }]; // cast: statements with a name are objects
    if (statement.name === name) sent = statement;
    return Reflect.apply(query, pool(), args);
  } as never); // cast: of the overloads only the one with a promise is called
  await work().finally(() => spy.mockRestore());
  const { rows } = await pool().query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sent?.text}`, sent?.values);
  const { Plan: plan } = rows[0]["QUERY PLAN"][0];
  return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
}

test("reads only the beginning of a large output for the results of nodes", async () => {
  const id = await startLong();

  const blocks = await blocksOf("node-results", () => readWhole(`/executions/${id}`));

  expect(blocks).toBeGreaterThan(0);
  expect(blocks).toBeLessThan(200);
});
