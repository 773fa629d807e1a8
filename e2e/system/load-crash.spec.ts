import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "@playwright/test";
import { apiClient } from "#e2e/api-client.ts";
import { byMessage, type ExpectedRun, everyExecution, expectExactCalls, type Stop, stopped } from "#e2e/call-counts.ts";
import { startModelServer } from "#e2e/fakes/model-server.ts";
import { lengthOf } from "#e2e/length.ts";
import { preparedDataDir, startTreadle, type Treadle } from "#e2e/server.ts";
import { COMMENT, saveStandardWorkflows } from "#e2e/standard-workflows.ts";
import { firstUser, noLimits } from "#e2e/system/install.ts";
import { type RunRequest, runRequests } from "#e2e/system/run-requests.ts";
import { until } from "#e2e/until.ts";
import { freePort } from "#server/platform/db/embedded.ts";
import { ExecutionPage, type ExecutionSummary } from "#server/runs/schema.ts";
import { executionStatuses, isFinal } from "#server/shared/execution-status.ts";

/** Requests under way at once. */
const CLIENTS = 6;
/** A request that names itself and came while its key was held by a process that died is sent again after this time, in milliseconds. */
const AGAIN_MS = 1000;
/** As a filter: whatever has not ended. */
const OPEN = executionStatuses.filter((status) => !isFinal(status)).join(",");

const key = `sk-service-${"crowded1".repeat(5)}`;
const env = {
  ...firstUser(key),
  ...noLimits,
  ALLOW_PRIVATE_NETWORK: "1",
};

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

test("runs under load, kills at random moments: all end, and no finished call is made again", async () => {
  // A kill comes while requests come in, or within LATEST_KILL_MS after them.
  const { RUNS, KILLS, LATEST_KILL_MS } = lengthOf({
    short: { RUNS: 56, KILLS: 4, LATEST_KILL_MS: 1000 },
    long: { RUNS: 600, KILLS: 50, LATEST_KILL_MS: 1500 },
  });
  const seed = Number(process.env.LOAD_CRASH_SEED) || (Date.now() % 1_000_000) + 1;
  process.stdout.write(`LOAD_CRASH_SEED=${seed}\n`);
  const random = randomFrom(seed);
  const models = await startModelServer();
  const [dataDir, port] = [preparedDataDir(), await freePort()];
  let server: Treadle | undefined = await startTreadle({ dataDir, port, env });
  const api = apiClient({ url: server.url, key });
  const { workflows } = await saveStandardWorkflows(api, models.url, { pieceMs: 40 });

  const nextRequest = await runRequests(api, { url: `${server.url}/api/v1`, workflows, random });

  const accepted: (ExpectedRun & { request: RunRequest })[] = [];
  /** What a kill has cut and does not name itself: each may have been accepted or not. */
  const cut: RunRequest[] = [];
  /** What names itself and is to be sent again: it was cut, or accepted by a process that is gone. */
  const again: { request: RunRequest; after: number }[] = [];
  const ids = new Map<RunRequest, string>();
  let repeats = 0;
  /** How many runs may have been accepted by now, so that every life of the process gets its share. */
  let share = 0;
  let isOver = false;

  const send = async (request: RunRequest): Promise<void> => {
    const repeat = (ms: number) => again.push({ request, after: Date.now() + ms });
    try {
      const { status, body } = await request.send();
      if (status === 409 && request.isNamed) return void repeat(AGAIN_MS);
      expect(status, JSON.stringify(body)).toBe(202);
      const { execution_id } = body;
      const known = ids.get(request);
      if (known !== undefined) {
        repeats++;
        return expect(execution_id, `${request.trigger} ${request.mark} was sent again`).toBe(known);
      }
      ids.set(request, execution_id);
      accepted.push({ ...request, execution_id, request });
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // fetch failed: the process is gone
      if (request.isNamed) repeat(0);
      else cut.push(request);
    }
  };
  const start = async (): Promise<void> => {
    const request = await nextRequest().catch((error) => {
      if (!(error instanceof TypeError)) throw error;
    });
    if (request) await send(request);
  };
  const client = async (): Promise<void> => {
    while (!isOver && (accepted.length < RUNS || again.length > 0)) {
      const due = again.findIndex(({ after }) => after <= Date.now());
      if (server && due >= 0) for (const { request } of again.splice(due, 1)) await send(request);
      else if (server && accepted.length < share) await start();
      else await pause(20);
    }
  };
  const approve = async (): Promise<void> => {
    while (!isOver) {
      await pause(50);
      if (!server) continue;
      try {
        const { body } = await api.get("/reviews?status=waiting&per_page=50", { status: 200 });
        for (const { execution_id } of body.items)
          await api.post(`/executions/${execution_id}/approve`, { decision: "approved", comment: COMMENT });
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
      }
    }
  };
  const asking = Promise.all(Array.from({ length: CLIENTS }, client));
  const approving = approve();
  let fault: unknown;
  Promise.all([asking, approving]).catch((error: unknown) => {
    fault = error;
  });

  const stops: Stop[] = [];
  let sentAgain = 0;
  for (let life = 1; life <= KILLS; life++) {
    const before = share;
    share = Math.round((RUNS * life) / (KILLS + 1));
    const [count, delay] = [Math.round(before + random() * (share - before)), random() < 0.5 ? 0 : Math.round(random() * LATEST_KILL_MS)];
    await until(() => fault !== undefined || accepted.length >= count, 60_000);
    await pause(delay);
    const killed: Treadle = server;
    server = undefined;
    stops.push(await stopped(killed.kill9));
    // Senders that do not know whether they were heard.
    for (const { request } of accepted.slice(sentAgain)) if (request.isNamed) again.push({ request, after: 0 });
    sentAgain = accepted.length;
    process.stdout.write(`kill ${life}: ${accepted.length} runs accepted, ${cut.length} requests cut\n`);
    server = await startTreadle({ dataDir, port, env });
  }
  share = RUNS;
  await Promise.race([asking, until(() => fault, 90_000)]);
  let open: ExecutionSummary[] = [];
  await until(async () => {
    open = (await api.get(`/executions?status=${OPEN}`, { schema: ExecutionPage })).body.items;
    return fault !== undefined || open.length === 0;
  }, 90_000).catch((error) => {
    throw new Error(`These runs have not ended: ${JSON.stringify(open)}\n${server?.logs()}`, { cause: error });
  });
  const all = await everyExecution(api);
  isOver = true;
  await approving;

  const known = new Set(accepted.map(({ execution_id }) => execution_id));
  const asked = all.filter(({ parent }) => parent === null);
  const others = asked.filter(({ id }) => !known.has(id));
  expect([known.size, asked.length - others.length], "each request has its run, and every accepted one is there").toEqual(
    Array(2).fill(accepted.length),
  );
  for (const { id, input } of others) {
    const index = cut.findIndex(({ workflow, mark }) => workflow.input(mark) === input);
    expect(index, `${id} with the input ${input} was asked for once`).not.toBe(-1);
    for (const request of cut.splice(index, 1)) accepted.push({ ...request, execution_id: id, request });
  }
  const starts = new Map(all.map(({ id, trigger, rerun_of }) => [id, { trigger, rerun_of }]));
  for (const { execution_id, request } of accepted)
    expect(starts.get(execution_id), request.mark).toEqual({ trigger: request.trigger, rerun_of: request.rerun_of });
  const by = (trigger: string) => all.filter((run) => run.trigger === trigger).length;
  expect(by("webhook"), "runs by webhook").toBeGreaterThan(RUNS / 10);
  // Only a run that has ended is rerun, so a slow machine has fewer reruns.
  expect(by("rerun"), "reruns").toBeGreaterThan(0);
  const calls = byMessage(models.calls());
  const sum = { interrupted: 0, answeredTwice: 0, givenUp: 0 };
  for (const run of accepted) {
    const tally = await expectExactCalls(api, { ...run, calls, stops, all });
    for (const name of ["interrupted", "answeredTwice", "givenUp"] as const) sum[name] += tally[name];
  }
  process.stdout.write(
    `${accepted.length} runs, ${by("webhook")} by webhook, ${by("rerun")} again, ${by("workflow")} by others, ${others.length} from requests that a kill cut; ${repeats} requests sent again; ${JSON.stringify(sum)}\n`,
  );
  // Kills that interrupt nothing prove nothing.
  expect(sum.interrupted).toBeGreaterThan(0);
  expect(repeats).toBeGreaterThan(0);
  await server.stop();
  await models.stop();
});
