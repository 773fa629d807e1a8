import { setTimeout as pause } from "node:timers/promises";
import { graphOf } from "#e2e/api/graphs.ts";
import { type ApiClient, apiClient } from "#e2e/api-client.ts";
import { treeCpu } from "#e2e/bench/cpu.ts";
import { median } from "#e2e/bench/measure.ts";
import { memoryOf } from "#e2e/bench/memory.ts";
import { newDataDir, startTreadle, type Treadle } from "#e2e/server.ts";
import { until } from "#e2e/until.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { ExecutionPage } from "#server/runs/schema.ts";

/** What starting up, or starting many runs, leaves to do: memory is tidied, tables are vacuumed. */
const SETTLE_SECONDS = 60;
const IDLE_SECONDS = 60;
const ROUNDS = 3;
const RUNS = 10_000;
/** Longer than anybody measures. */
const SECONDS = 30 * 24 * 3600;

/** Runs that do nothing but wait, by what for. @returns the id of the workflow to start, and how many runs each start makes */
const WAITS: Record<string, (save: (node: [string, object]) => Promise<string>) => Promise<{ id: string; each: number }>> = {
  review: async (save) => ({ id: await save(["humanLoop", {}]), each: 1 }),
  time: async (save) => ({ id: await save(["wait", { mode: "for", seconds: SECONDS }]), each: 1 }),
  callback: async (save) => ({ id: await save(["wait", { mode: "callback", timeout_hours: SECONDS / 3600 }]), each: 1 }),
  // What it waits for waits too.
  child: async (save) => ({ id: await save(["workflow", { workflow_id: await save(["wait", { mode: "callback" }]) }]), each: 2 }),
};

const waiting = async (api: ApiClient) => {
  const totals = ["paused", "running"].map(
    async (status) => (await api.get(`/executions?status=${status}&per_page=1`, { schema: ExecutionPage })).body.total,
  );
  return (await Promise.all(totals)).reduce((sum, total) => sum + total, 0);
};

async function idle(server: Treadle) {
  await pause(SETTLE_SECONDS * 1000);
  const shares: number[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const before = treeCpu(server.pid);
    await pause(IDLE_SECONDS * 1000);
    shares.push((treeCpu(server.pid) - before) / (IDLE_SECONDS * 10));
  }
  return { memory_mib: memoryOf(server.pid), idle_cpu_percent: median(shares) };
}

/** The time from the start to the line that says it is ready, in milliseconds. */
async function timeRestarts(dataDir: string, env: Record<string, string>): Promise<number> {
  const restarts: number[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const began = performance.now();
    const next = await startTreadle({ dataDir, env });
    restarts.push(performance.now() - began);
    await next.stop();
  }
  return median(restarts);
}

/** 10,000 runs that wait, of each kind of wait apart: what they cost while they wait, and a restart with them. Medians of three. */
export async function measureWaiting({ env, key }: { env: Record<string, string>; key: string }, wanted: string) {
  const kinds = Object.keys(WAITS).filter((kind) => `waiting: ${kind}`.includes(wanted));
  const figures: Record<string, Awaited<ReturnType<typeof idle>> & { restart_ms: number }> = {};
  for (const kind of kinds.length ? ["nothing", ...kinds] : []) {
    const dataDir = newDataDir();
    const server = await startTreadle({ dataDir, env });
    const api = apiClient({ url: server.url, key });
    let count = 0;
    const save = async ([type, data]: [string, object]) => {
      const way = type === "humanLoop" ? ".approved" : type === "wait" ? ".done" : "";
      const graph = graphOf({ t: ["trigger"], w: [type, { ...data }], o: ["output"] }, ["t>w", `w${way}>o`]);
      return (await api.post("/workflows", { name: `Waits ${++count}`, ...graph }, { schema: Workflow, status: 201 })).body.id;
    };
    const started = await WAITS[kind]?.(save);
    if (started) {
      let next = 0;
      const client = async () => {
        while (next++ < RUNS) await api.post(`/workflows/${started.id}/execute`, {}, { status: 202 });
      };
      await Promise.all(Array.from({ length: 20 }, client));
      await until(async () => (await waiting(api)) === RUNS * started.each, 600_000);
    }
    const while_waiting = await idle(server);
    await server.stop();
    const restart_ms = await timeRestarts(dataDir, env);
    figures[kind] = { ...while_waiting, restart_ms };
    const { memory_mib, idle_cpu_percent } = while_waiting;
    process.stdout.write(
      `${started ? RUNS : 0} runs waiting: ${kind}: ${memory_mib.toFixed(0)} MiB, ${idle_cpu_percent.toFixed(2)} % of a core, ready again after ${restart_ms.toFixed(0)} ms\n`,
    );
  }
  return figures;
}
