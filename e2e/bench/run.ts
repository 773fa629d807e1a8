import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { apiClient } from "#e2e/api-client.ts";
import { measureApi } from "#e2e/bench/api.ts";
import { measureCanvas } from "#e2e/bench/canvas.ts";
import { measureCanvases } from "#e2e/bench/canvases.ts";
import { INSTALL_ENV, KEY } from "#e2e/bench/install-env.ts";
import { measureLists } from "#e2e/bench/lists.ts";
import { measure, median, type Round } from "#e2e/bench/measure.ts";
import { makeScenarios } from "#e2e/bench/scenarios.ts";
import { measureWaiting } from "#e2e/bench/waiting.ts";
import makeDataTemplate from "#e2e/data-template.ts";
import { listen } from "#e2e/fakes/listen.ts";
import { startModelServer } from "#e2e/fakes/model-server.ts";
import { startTreadle } from "#e2e/server.ts";

// `npm run bench [-- <part of a scenario's name>]`: durable runs over REST on the embedded database and executor,
// everything on this machine. Every run must complete, with exactly the model calls that it should make.

const ROUNDS = 3;
const env = INSTALL_ENV;

const show = (value: number | null | undefined) => (typeof value === "number" ? value.toFixed(1) : "cannot be measured here");

function summary(rounds: Round[]) {
  const figures = Object.keys(rounds[0] ?? {}) as (keyof Round)[];
  const medians = Object.fromEntries(
    figures.map((name) => [name, rounds[0]?.[name] === null ? null : median(rounds.map((round) => Number(round[name])))]),
  );
  const lines = figures.map(
    (name) => `  ${name.padEnd(26)}${show(medians[name])}   (${rounds.map((round) => show(round[name])).join(", ")})`,
  );
  return { medians, text: lines.join("\n") };
}

/** With a PostgreSQL of its own, whose files are copied; the scenarios above make theirs as an install does. */
async function onOwnPostgres<Figures>(measured: () => Promise<Figures>): Promise<Figures> {
  const remove = await makeDataTemplate();
  try {
    return await measured();
  } finally {
    delete process.env.DATA_TEMPLATE;
    remove();
  }
}

const wanted = process.argv[2] ?? "";
const load = loadavg();
const models = await startModelServer();
const quick = await listen(createServer((_, response) => response.setHeader("content-type", "application/json").end('{"made": 1}')));
const report: Record<string, unknown> = { cores: cpus().length, load };
process.stdout.write(
  `${cpus().length} cores, load before ${load.map((value) => value.toFixed(2)).join(" ")}; medians of ${ROUNDS}, each round in brackets\n`,
);
try {
  const treadle = await startTreadle({ env });
  try {
    const api = apiClient({ url: treadle.url, key: KEY });
    for (const scenario of await makeScenarios(api, { url: treadle.url, modelUrl: models.url, quickUrl: quick.url })) {
      if (!scenario.name.includes(wanted)) continue;
      const rounds = await measure(treadle, api, scenario, ROUNDS, (mark) => models.calls({ contains: mark }).length);
      const { medians, text } = summary(rounds);
      report[scenario.name] = { runs: scenario.runs, concurrency: scenario.concurrency, rounds, medians };
      process.stdout.write(`${scenario.name}: ${scenario.runs} runs, ${scenario.concurrency} at once\n${text}\n`);
    }
  } finally {
    await treadle.stop();
  }
  report.waiting = await measureWaiting({ env, key: KEY }, wanted);
  if ("api requests".includes(wanted)) report.api = await measureApi({ env, key: KEY });
  if ("canvas".includes(wanted)) report.canvas = await measureCanvas({ env, key: KEY, modelUrl: models.url });
  if ("lists of a million executions".includes(wanted)) report.lists = await onOwnPostgres(() => measureLists({ env, key: KEY }));
  if ("dashboard over a million executions".includes(wanted))
    report.dashboard = await onOwnPostgres(() => measureCanvases({ env, key: KEY }));
  const folder = join(import.meta.dirname, "../artifacts");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "bench.json"), `${JSON.stringify(report, null, 2)}\n`);
} finally {
  await models.stop();
  await quick.stop();
}
