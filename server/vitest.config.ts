import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

// Test files share a process and the libraries that it has loaded, which take most of a small file's time; our own modules each file
// has for itself. Integration tests (*.int.test.ts) share one real PostgreSQL, started only when any of them runs; each file has a
// database of its own in it.
const INTEGRATION = "server/**/*.int.test.ts";

export default defineConfig(({ mode }) => ({
  root: join(import.meta.dirname, ".."),
  test: {
    // Tests of generated cases have many times as many of them in `npm run test:faults`.
    env: { LOG_LEVEL: "silent", CHECK_HELD_CONNECTIONS: "1", ...(mode === "long" && { TEST_SCALE: "12" }) },
    // Left to itself a run keeps one core free. One more than cores: somebody always waits for a database, a child or a clock.
    maxWorkers: availableParallelism() + 1,
    isolate: false,
    // Most of what a test makes is gone with it, before room for young objects of this size (MB) is full.
    execArgv: ["--min-semi-space-size=32", "--max-semi-space-size=64"],
    // A busy machine is slower than the second that is the default; who waits goes on at once when it is so.
    expect: { poll: { timeout: 10_000 } },
    setupFiles: [join(import.meta.dirname, "testing/fresh-modules.ts")],
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["{app,components,server,e2e}/**/*.test.{ts,tsx}"],
          exclude: [INTEGRATION, "**/node_modules/**"],
          testTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: "integration",
          include: [INTEGRATION],
          globalSetup: [join(import.meta.dirname, "testing/global-setup.ts")],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
}));
