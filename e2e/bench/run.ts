import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type ApiClient, apiClient } from "#e2e/api-client.ts";
import { canMeasureCpu, treeCpu } from "#e2e/bench/cpu.ts";
import { startModelServer } from "#e2e/fakes/model-server.ts";
import { postgresOf, startTreadle, type Treadle } from "#e2e/server.ts";
import { Agent } from "#server/schemas/agent.ts";
import { Execution, ExecutionPage } from "#server/schemas/execution.ts";
import { LlmKey } from "#server/schemas/llm-key.ts";
import { Workflow } from "#server/schemas/workflow.ts";

// `npm run bench`: durable runs of `execute` → agent on a model that answers at once → output, over REST, on the embedded
// database and executor, everything on this machine. Each round checks that every run completed and that the model was
// called exactly once for each.

const RUNS = 300;
const CONCURRENCY = 20;
const ROUNDS = 3;
const KEY = `sk-service-${"b".repeat(43)}`;

interface Round {
  runs_per_second: number;
  /** From the request to the end of the run, as the run's own times say. */
  p50_ms: number;
  p95_ms: number;
  cpu_ms_per_run: number | null;
  postgres_cpu_ms_per_run: number | null;
}

const position = { x: 0, y: 0 };

async function makeWorkflow(api: ApiClient, modelUrl: string): Promise<string> {
  const key = (
    await api.post(
      "/llm-keys",
      { name: "Bench", provider: "openai_compatible", api_key: "bench", base_url: modelUrl },
      { schema: LlmKey, status: 201 },
    )
  ).body;
  const agent = (await api.post("/agents", { name: "Bench", llm_key_id: key.id, model: "zero" }, { schema: Agent, status: 201 })).body;
  const nodes = [
    { id: "t", type: "triggerNode", position, data: { label: "Start", kind: "manual" } },
    { id: "a", type: "agentNode", position, data: { label: "Ask", agent_id: agent.id } },
    { id: "o", type: "outputNode", position, data: { label: "Result" } },
  ];
  const edges = [
    { id: "t-a", source: "t", target: "a" },
    { id: "a-o", source: "a", target: "o" },
  ];
  return (await api.post("/workflows", { name: "Bench", nodes, edges }, { schema: Workflow, status: 201 })).body.id;
}

async function startRuns(api: ApiClient, workflow: string, count: number, mark: string): Promise<string[]> {
  const ids: string[] = [];
  let next = 0;
  const client = async () => {
    while (next < count) {
      const input = `${mark} ${next++}`;
      ids.push((await api.post(`/workflows/${workflow}/execute`, { input }, { status: 202 })).body.execution_id);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, client));
  return ids;
}

async function completedCount(api: ApiClient, workflow: string): Promise<number> {
  return (await api.get(`/executions?workflow_id=${workflow}&status=completed&per_page=1`, { schema: ExecutionPage })).body.total;
}

async function play(api: ApiClient, workflow: string, count: number, mark: string): Promise<{ seconds: number; durations: number[] }> {
  const before = await completedCount(api, workflow);
  const started = performance.now();
  const ids = await startRuns(api, workflow, count, mark);
  const giveUp = performance.now() + 120_000;
  while ((await completedCount(api, workflow)) < before + count) {
    if (performance.now() > giveUp) throw new Error(`Not every run of "${mark}" completed.`);
    await pause(20);
  }
  const seconds = (performance.now() - started) / 1000;
  const durations: number[] = [];
  for (const id of ids) durations.push((await api.get(`/executions/${id}`, { schema: Execution })).body.duration_ms ?? Number.NaN);
  return { seconds, durations: durations.sort((a, b) => a - b) };
}

const at = (sorted: number[], share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
const median = (values: number[]) =>
  at(
    [...values].sort((a, b) => a - b),
    0.5,
  );

async function measure(treadle: Treadle, models: Awaited<ReturnType<typeof startModelServer>>): Promise<Round[]> {
  const api = apiClient({ url: treadle.url, key: KEY });
  const workflow = await makeWorkflow(api, models.url);
  await play(api, workflow, 100, "warm-up");
  const postgres = postgresOf(treadle.dataDir);
  const cpu = () => ({ own: treeCpu(treadle.pid, postgres), postgres: postgres ? treeCpu(postgres) : 0 });
  const rounds: Round[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const mark = `round-${round}`;
    const before = canMeasureCpu() ? cpu() : undefined;
    const { seconds, durations } = await play(api, workflow, RUNS, mark);
    const after = canMeasureCpu() ? cpu() : undefined;
    const calls = models.calls({ contains: `${mark} ` }).length;
    if (calls !== RUNS) throw new Error(`${RUNS} runs made ${calls} model calls.`);
    rounds.push({
      runs_per_second: RUNS / seconds,
      p50_ms: at(durations, 0.5),
      p95_ms: at(durations, 0.95),
      cpu_ms_per_run: before && after ? (after.own - before.own) / RUNS : null,
      postgres_cpu_ms_per_run: before && after ? (after.postgres - before.postgres) / RUNS : null,
    });
  }
  return rounds;
}

const env = {
  BOOTSTRAP_EMAIL: "bench@example.com",
  BOOTSTRAP_PASSWORD: "bench bench bench",
  BOOTSTRAP_API_KEY: KEY,
  RATE_LIMIT_PER_MINUTE: "0",
  RATE_LIMIT_BURST: "0",
  EXECUTIONS_PER_HOUR: "0",
};
const load = loadavg();
const models = await startModelServer();
const treadle = await startTreadle({ env });
try {
  const rounds = await measure(treadle, models);
  const figures = Object.keys(rounds[0] ?? {}) as (keyof Round)[];
  const medians = Object.fromEntries(
    figures.map((name) => [name, rounds[0]?.[name] === null ? null : median(rounds.map((round) => Number(round[name])))]),
  );
  const report = {
    scenario: "execute → agent (0 ms model) → output",
    runs: RUNS,
    concurrency: CONCURRENCY,
    cores: cpus().length,
    load,
    rounds,
    medians,
  };
  const folder = join(import.meta.dirname, "../artifacts");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "bench.json"), `${JSON.stringify(report, null, 2)}\n`);
  const show = (value: number | null | undefined) => (typeof value === "number" ? value.toFixed(1) : "cannot be measured here");
  const lines = figures.map(
    (name) => `  ${name.padEnd(26)}${show(medians[name])}   (${rounds.map((round) => show(round[name])).join(", ")})`,
  );
  process.stdout.write(
    `${report.scenario}: ${RUNS} runs, ${CONCURRENCY} at once, ${ROUNDS} rounds, each run completed with one model call\n${cpus().length} cores, load before ${load.map((value) => value.toFixed(2)).join(" ")}; medians, each round in brackets\n${lines.join("\n")}\n`,
  );
} finally {
  await treadle.stop();
  await models.stop();
}
