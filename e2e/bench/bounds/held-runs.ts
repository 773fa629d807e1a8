import { createServer } from "node:http";
import { type ApiClient, apiClient } from "#e2e/api-client.ts";
import { INSTALL_ENV, KEY } from "#e2e/bench/install-env.ts";
import { memoryOf } from "#e2e/bench/memory.ts";
import { listen } from "#e2e/fakes/listen.ts";
import { startTreadle } from "#e2e/server.ts";
import { until } from "#e2e/until.ts";

// Eleven runs that hold 450 MB of node outputs each, on a service with 2 GB. The service has to survive, every run has to complete,
// and small runs have to complete meanwhile. By itself: `node e2e/bench/bounds/held-runs.ts`.

/** Settings of the service, which must be started with them. */
export const HELD_RUNS_ENV = { NODE_OPTIONS: "--max-old-space-size=2048", EXECUTIONS_PER_HOUR: "0", ALLOW_PRIVATE_NETWORK: "1" };

const RUNS = 11;
const NODES = 29;
/** Characters of the input. Each node holds sixteen times as many, which is 450 MB for all. */
const INPUT_CHARACTERS = 980_000;
/** Time for which a run holds its outputs at least, in ms. */
const HOLD_MS = 3000;
const LIMIT_MS = 1_200_000;

const position = { x: 0, y: 0 };
const node = (id: string, type: string, data: object = {}) => ({ id, type, position, data: { label: id, ...data } });
const edge = (source: string, target: string) => ({ id: `${source}-${target}`, source, target });

interface HeldRuns {
  /** Number of runs by their final status. */
  statuses: Record<string, number>;
  /** Small runs that completed while large ones were in memory. */
  small: number;
}

/**
 * Starts the runs of one workflow at once and small runs one after the other, until all large ones have ended.
 * @param slowUrl answers after HOLD_MS
 */
export async function holdRuns(api: ApiClient, slowUrl: string): Promise<HeldRuns> {
  const fields = [{ name: "text", value: "{{trigger.output}}".repeat(16), type: "text" }];
  const ids = Array.from({ length: NODES }, (_, index) => `n${index}`);
  const large = await api.post("/workflows", {
    name: `Held ${Date.now()}`,
    nodes: [
      node("t", "triggerNode"),
      ...ids.map((id) => node(id, "setNode", { fields })),
      node("h", "httpNode", { method: "GET", url: slowUrl, timeout: 60 }),
      node("o", "outputNode", { value: "done" }),
    ],
    edges: [...ids.flatMap((id) => [edge("t", id), edge(id, "h")]), edge("h", "o")],
  });
  const quick = await api.post("/workflows", {
    name: `Small ${Date.now()}`,
    nodes: [node("t", "triggerNode"), node("o", "outputNode", { value: "{{trigger.output}}" })],
    edges: [edge("t", "o")],
  });
  const start = (workflow: string, input: string): Promise<string> =>
    api.post(`/workflows/${workflow}/execute`, { input }, { status: 202 }).then(({ body }) => body.execution_id);
  const statusOf = async (id: string): Promise<string> => (await api.get(`/executions/${id}`)).body.status;

  const started = await Promise.all(Array.from({ length: RUNS }, () => start(large.body.id, "x".repeat(INPUT_CHARACTERS))));
  const statuses = new Map<string, string>();
  let small = 0;
  await until(async () => {
    const id = await start(quick.body.id, "x");
    await until(async () => (await statusOf(id)) === "completed");
    small += 1;
    const { body } = await api.get(`/workflows/${large.body.id}/executions?limit=${RUNS}`);
    for (const run of body) if (run.completed_at) statuses.set(run.id, run.status);
    return statuses.size === started.length;
  }, LIMIT_MS);
  const counts = [...Map.groupBy(statuses.values(), (status) => status)].map(([status, all]) => [status, all.length]);
  return { statuses: Object.fromEntries(counts), small };
}

if (import.meta.main) {
  const slow = await listen(createServer((_, response) => void setTimeout(() => response.end("late"), HOLD_MS)));
  const treadle = await startTreadle({ env: { ...INSTALL_ENV, ...HELD_RUNS_ENV } });
  let peak = 0;
  const sampling = setInterval(() => {
    peak = Math.max(peak, memoryOf(treadle.pid) || 0);
  }, 50);
  try {
    const result = await holdRuns(apiClient({ url: treadle.url, key: KEY }), slow.url);
    process.stdout.write(`${JSON.stringify({ ...result, peakMiB: Math.round(peak) })}\n`);
  } catch (error) {
    process.stdout.write(`${error}\n${treadle.logs().slice(-3000)}\n`);
    process.exitCode = 1;
  } finally {
    clearInterval(sampling);
    await treadle.stop();
    await slow.stop();
  }
}
