import { setTimeout as pause } from "node:timers/promises";
import type { ApiClient } from "#e2e/api-client.ts";
import { canMeasureCpu, treeCpu } from "#e2e/bench/cpu.ts";
import { beginPeak, peakOf } from "#e2e/bench/memory.ts";
import type { Scenario } from "#e2e/bench/scenarios.ts";
import { postgresOf, type Treadle } from "#e2e/server.ts";
import { ExecutionPage } from "#server/runs/schema.ts";

export interface Round {
  runs_per_second: number;
  /** From the acceptance of a run to its end, as its own times say; of a synchronous one, the whole request. */
  p50_ms: number;
  p95_ms: number;
  /** Everything that the service's processes used, PostgreSQL included; null where it cannot be measured. */
  cpu_ms_per_run: number | null;
  postgres_cpu_ms_per_run: number | null;
  /** The most that the service's own process has held; null where it cannot be measured. */
  memory_mib: number | null;
}

const GIVE_UP_MS = 120_000;

export const at = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
export const median = (values: readonly number[]) =>
  at(
    [...values].sort((a, b) => a - b),
    0.5,
  );

const completed = async (api: ApiClient, workflow_id: string, page = 1, per_page = 1) =>
  (await api.get(`/executions?workflow_id=${workflow_id}&status=completed&page=${page}&per_page=${per_page}`, { schema: ExecutionPage }))
    .body;

async function latest(api: ApiClient, workflow_id: string, count: number): Promise<number[]> {
  const durations: number[] = [];
  for (let page = 1; durations.length < count; page++)
    durations.push(...(await completed(api, workflow_id, page, 200)).items.map((item) => item.duration_ms ?? Number.NaN));
  return durations.slice(0, count);
}

/** Plays a scenario once; every run must complete. */
async function play(api: ApiClient, scenario: Scenario, count: number, mark: string) {
  const { workflow_id, concurrency, isSync, start } = scenario;
  const before = (await completed(api, workflow_id)).total;
  const began = performance.now();
  const requests: number[] = [];
  let next = 0;
  const client = async () => {
    while (next < count) {
      const from = performance.now();
      await start(`${mark} ${next++}`);
      requests.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, client));
  while ((await completed(api, workflow_id)).total < before + count) {
    if (performance.now() - began > GIVE_UP_MS) throw new Error(`Not every run of "${mark}" completed.`);
    await pause(250);
  }
  return { seconds: (performance.now() - began) / 1000, requests, isSync };
}

/** Three rounds after a warm-up, each with the CPU of the service, its database and its executor. */
export async function measure(
  treadle: Treadle,
  api: ApiClient,
  scenario: Scenario,
  rounds: number,
  callsWith: (mark: string) => number,
): Promise<Round[]> {
  const { runs, calls, name } = scenario;
  await play(api, scenario, Math.ceil(runs / 3), `warm-up of ${name}`);
  const postgres = postgresOf(treadle.dataDir);
  const cpu = () => ({ own: treeCpu(treadle.pid, postgres), postgres: postgres ? treeCpu(postgres) : 0 });
  const results: Round[] = [];
  for (let round = 1; round <= rounds; round++) {
    const mark = `round-${round} of ${name}`;
    const before = canMeasureCpu() ? cpu() : undefined;
    if (canMeasureCpu()) beginPeak(treadle.pid);
    const { seconds, requests, isSync } = await play(api, scenario, runs, mark);
    const after = canMeasureCpu() ? cpu() : undefined;
    const made = callsWith(`${mark} `);
    if (made !== runs * calls) throw new Error(`${runs} runs of "${name}" made ${made} model calls.`);
    const durations = (isSync ? requests : await latest(api, scenario.workflow_id, runs)).sort((a, b) => a - b);
    const used = before && after ? { own: after.own - before.own, postgres: after.postgres - before.postgres } : undefined;
    results.push({
      runs_per_second: runs / seconds,
      p50_ms: at(durations, 0.5),
      p95_ms: at(durations, 0.95),
      cpu_ms_per_run: used ? (used.own + used.postgres) / runs : null,
      postgres_cpu_ms_per_run: used ? used.postgres / runs : null,
      memory_mib: canMeasureCpu() ? peakOf(treadle.pid) : null,
    });
  }
  return results;
}
