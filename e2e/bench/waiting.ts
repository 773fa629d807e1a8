import { setTimeout as pause } from "node:timers/promises";
import { graphOf } from "#e2e/api/graphs.ts";
import { apiClient } from "#e2e/api-client.ts";
import { treeCpu } from "#e2e/bench/cpu.ts";
import { median } from "#e2e/bench/measure.ts";
import { memoryOf } from "#e2e/bench/memory.ts";
import { newDataDir, startTreadle } from "#e2e/server.ts";
import { until } from "#e2e/until.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { ExecutionPage } from "#server/runs/schema.ts";

/** What starting up, or starting many runs, leaves to do: memory is tidied, tables are vacuumed. */
const SETTLE_SECONDS = 60;
const IDLE_SECONDS = 60;
const ROUNDS = 3;

/** 1,000 runs that wait in a review: what they cost while they wait; then a restart with 10,000 of them. Medians of three. */
export async function measureWaiting({ env, key }: { env: Record<string, string>; key: string }) {
  const dataDir = newDataDir();
  const first = await startTreadle({ dataDir, env });
  const api = apiClient({ url: first.url, key });
  const graph = graphOf({ t: ["trigger"], r: ["humanLoop"], o: ["output"] }, ["t>r", "r.approved>o"]);
  const { id } = (await api.post("/workflows", { name: "Waits", ...graph }, { schema: Workflow, status: 201 })).body;
  const paused = async () =>
    (await api.get(`/executions?workflow_id=${id}&status=paused&per_page=1`, { schema: ExecutionPage })).body.total;
  const startMore = async (total: number) => {
    let next = await paused();
    const client = async () => {
      while (next++ < total) await api.post(`/workflows/${id}/execute`, {}, { status: 202 });
    };
    await Promise.all(Array.from({ length: 20 }, client));
    await until(async () => (await paused()) === total, 600_000);
  };
  const idle = async () => {
    await pause(SETTLE_SECONDS * 1000);
    const shares: number[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      const before = treeCpu(first.pid);
      await pause(IDLE_SECONDS * 1000);
      shares.push((treeCpu(first.pid) - before) / (IDLE_SECONDS * 10));
    }
    return { memory_mib: memoryOf(first.pid), idle_cpu_percent: median(shares) };
  };
  const none = await idle();
  await startMore(1000);
  const thousand = await idle();
  await startMore(10_000);
  await first.stop();
  const restarts: number[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const began = performance.now();
    const next = await startTreadle({ dataDir, env });
    restarts.push(performance.now() - began);
    await next.stop();
  }
  const restart_ms = median(restarts);
  const line = ({ memory_mib, idle_cpu_percent }: typeof none) =>
    `${memory_mib.toFixed(0)} MiB, ${idle_cpu_percent.toFixed(2)} % of a core`;
  process.stdout.write(
    `idle: ${line(none)}\n1,000 runs waiting in review: ${line(thousand)}\nrestart with 10,000 waiting: ready after ${restart_ms.toFixed(0)} ms\n`,
  );
  return { none, thousand, restart_ms };
}
