import { mkdirSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { apiClient } from "#e2e/api-client.ts";
import { cases } from "#e2e/bench/bounds/cases.ts";
import { BOUNDS, type Figures, measureBounds } from "#e2e/bench/bounds/measure.ts";
import { INSTALL_ENV, KEY } from "#e2e/bench/install-env.ts";
import { startTreadle } from "#e2e/server.ts";

// `npm run bench:bounds [-- [--case <beginning of a name>] [--folder <another built checkout>]]`: what one account can do to others on
// the same process. Each case has an install of its own with the default limits, apart from those per client address, which an
// attacker with many addresses does not meet, and those that the case itself lifts.

const env = { ...INSTALL_ENV, RATE_LIMIT_WEB: "0" };

const { values } = parseArgs({ options: { case: { type: "string", default: "" }, folder: { type: "string" } } });
const install = values.folder === undefined ? {} : { folder: resolve(values.folder) };
const report: Record<string, Figures & { result: string; isWithin: boolean }> = {};

for (const { name, env: own, prepare } of cases) {
  if (!name.startsWith(values.case)) continue;
  const treadle = await startTreadle({ ...install, env: { ...env, ...own } });
  try {
    const { attack, warmUp, result, stop } = await prepare({ url: treadle.url, api: apiClient({ url: treadle.url, key: KEY }) });
    await warmUp?.();
    const figures = await measureBounds(treadle, attack);
    const isWithin = figures.max_delay_ms <= BOUNDS.delay_ms && figures.memory_mib <= BOUNDS.memory_mib;
    report[name] = { ...figures, isWithin, result: (await result?.()) ?? "" };
    await stop?.();
    const [delay, memory] = [figures.max_delay_ms.toFixed(0).padStart(6), figures.memory_mib.toFixed(0).padStart(5)];
    const load = loadavg()[0]?.toFixed(1);
    process.stdout.write(`${isWithin ? "ok  " : "OVER"} ${delay} ms ${memory} MiB  ${name}: ${report[name].result} (load ${load})\n`);
  } catch (error) {
    report[name] = { max_delay_ms: Number.NaN, memory_mib: Number.NaN, isWithin: false, result: String(error).slice(0, 300) };
    process.stdout.write(`FAIL ${name}: ${report[name].result}\n`);
  } finally {
    await treadle.stop();
  }
}

const folder = join(import.meta.dirname, "../../artifacts");
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "bounds.json"), `${JSON.stringify(report, null, 2)}\n`);
process.exitCode = Object.values(report).every(({ isWithin }) => isWithin) ? 0 : 1;
