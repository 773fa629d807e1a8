import { join } from "node:path";
import { defineConfig } from "vitest/config";

// Unit tests are pure. Those of code that keeps nothing between calls share what they load, which takes most of a small file's
// time. Integration tests (*.int.test.ts) share one real PostgreSQL, started only when any of them runs; each file has a database
// of its own in it.
const KEEPS_NOTHING = "{app,components,server/workflow,server/shared,server/runs/executor}/**/*.test.{ts,tsx}";
const OTHERS = ["**/*.int.test.ts", "**/node_modules/**"];

export default defineConfig({
  root: join(import.meta.dirname, ".."),
  test: {
    env: { LOG_LEVEL: "silent" },
    // Left to itself a run keeps one core free, which on two is half of them.
    maxWorkers: "100%",
    projects: [
      {
        extends: true,
        test: {
          name: "pure",
          include: [KEEPS_NOTHING],
          exclude: OTHERS,
          isolate: false,
          testTimeout: 15_000,
        },
      },
      {
        extends: true,
        test: {
          name: "unit",
          include: ["{server,e2e}/**/*.test.{ts,tsx}"],
          exclude: [KEEPS_NOTHING, ...OTHERS],
          testTimeout: 15_000,
        },
      },
      {
        extends: true,
        test: {
          name: "integration",
          include: ["server/**/*.int.test.ts"],
          globalSetup: [join(import.meta.dirname, "testing/global-setup.ts")],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
