import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";

// `npm test`: the build, the unit and integration tests, those over REST and the main ones of the rest end to end, and the checks beside
// them; `npm test -- --all`: everything end to end. Goes on after a failure, so that one run shows all of them. The last line is the sum.

const root = join(import.meta.dirname, "..");
const artifacts = join(import.meta.dirname, "artifacts");

const { values: asked } = parseArgs({ options: { all: { type: "boolean" } } });

/** All tests over REST, and of browsers, whole installs and attacks one or two for each thing that people come for. */
const MAIN = ["--grep", "^api |@main"];

/** Where Linux has a file system in memory, and what must be free in it, in bytes: many times what tests have in it at once. */
const MEMORY = "/dev/shm";
const ROOM = 4 * 1024 ** 3;

/**
 * A folder for what is gone with the tests: databases, data folders, profiles of browsers. In memory where there is room: to make,
 * copy and remove their thousands of small files on a disk takes a sixth of the processor time of all tests.
 */
function newTemporaryFolder(): string {
  const isRoomy = () => {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM;
  };
  const folder = mkdtempSync(join(existsSync(MEMORY) && isRoomy() ? MEMORY : tmpdir(), "treadle-tests-"));
  chmodSync(folder, 0o755); // the account of PostgreSQL must be able to pass through
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));
  return folder;
}

interface Sum {
  passed: number;
  failed: number;
  skipped: number;
}

/** Failed steps and tests, listed again at the end, where a CI log that is cut still shows them. */
const failures: string[] = [];

/** Runs a command with its output shown as it comes; gives its exit code. */
function run(command: string, args: string[]): Promise<number> {
  process.stdout.write(`\n── ${[command, ...args].join(" ")}\n`);
  const from = performance.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: "inherit" });
    child.once("error", (error) => {
      process.stderr.write(`${error.message}\n`);
      resolve(1);
    });
    child.once("exit", (code) => {
      process.stdout.write(`── ${args.slice(0, 2).join(" ")} took ${Math.round((performance.now() - from) / 1000)} s\n`);
      resolve(code ?? 1);
    });
  });
}

/** A step without tests in it: its failure counts as one. */
async function step(command: string, args: string[]): Promise<Sum> {
  const isFailed = (await run(command, args)) !== 0;
  if (isFailed) failures.push([command, ...args].join(" "));
  return { passed: 0, failed: isFailed ? 1 : 0, skipped: 0 };
}

/**
 * Runs tests that write a JSON report. A runner that fails without a failed test (a file that cannot be loaded, a setup
 * that breaks, no report at all) counts as one failure.
 */
async function tests(command: string, args: string[], report: string, read: (report: never) => Sum): Promise<Sum> {
  const file = join(artifacts, report);
  rmSync(file, { force: true });
  const code = await run(command, args);
  const sum = existsSync(file) ? read(JSON.parse(readFileSync(file, "utf8")) as never) : { passed: 0, failed: 0, skipped: 0 };
  if (code === 0 || sum.failed > 0) return sum;
  failures.push([command, ...args.slice(0, 2)].join(" "));
  return { ...sum, failed: 1 };
}

/** Part of the JSON report of Vitest. */
interface VitestReport {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: { name: string; assertionResults: { status: string; fullName: string; failureMessages: string[] }[] }[];
}

function readVitest(report: VitestReport): Sum {
  for (const { name, assertionResults } of report.testResults)
    for (const { status, fullName, failureMessages } of assertionResults)
      if (status === "failed") failures.push(`${relative(root, name)}: ${fullName}\n${failureMessages.join("\n").slice(0, 2000)}`);
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

const vitest = () =>
  tests(
    "npx",
    [
      "vitest",
      "run",
      "--config",
      "server/vitest.config.ts",
      "--reporter=default",
      "--reporter=json",
      `--outputFile=${join(artifacts, "vitest.json")}`,
    ],
    "vitest.json",
    readVitest,
  );

const playwright = () =>
  tests(
    "npx",
    ["playwright", "test", "--config", "e2e/playwright.config.ts", ...(asked.all ? [] : MAIN)],
    "playwright.json",
    ({ stats }: { stats: { expected: number; unexpected: number; flaky: number; skipped: number } }) => ({
      passed: stats.expected,
      failed: stats.unexpected + stats.flaky,
      skipped: stats.skipped,
    }),
  );

mkdirSync(artifacts, { recursive: true });
process.env.TMPDIR = newTemporaryFolder();
// Node takes the types out of our files by itself, as where the product runs: Playwright need not put each through Babel.
process.env.PW_DISABLE_TS_ESM = "1";
// What all of them begin with, once.
const sums = [await step("npm", ["run", "gen"])];
const check = step("npm", ["run", "check"]); // keeps one core busy, and hardly more
const build = await step("npm", ["run", "build"]);
sums.push(build, await vitest());
if (build.failed === 0) sums.push(await playwright());
sums.push(await check);

for (const failure of failures) process.stdout.write(`\nFailed: ${failure}\n`);
const total = (name: keyof Sum) => sums.reduce((sum, part) => sum + part[name], 0);
if (total("skipped")) process.stdout.write(`\n${total("skipped")} skipped, each with its reason above\n`);
process.stdout.write(`\n${total("passed")} passed, ${total("failed")} failed\n`);
process.exitCode = total("failed") ? 1 : 0;
