import { join } from "node:path";
import { defineConfig } from "vitest/config";

// Unit tests are pure. Integration tests (*.int.test.ts) share one real PostgreSQL, started only when any of them runs; each
// file has a database of its own in it.
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
          name: "unit",
          include: ["{app,server,components,e2e}/**/*.test.{ts,tsx}"],
          exclude: ["**/*.int.test.ts", "**/node_modules/**"],
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
