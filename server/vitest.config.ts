import { join } from "node:path";
import { defineConfig } from "vitest/config";

// Unit tests are pure. Integration tests (*.int.test.ts) share one real PostgreSQL, started only when any of them runs;
// their files run one after another, so that a small machine is not the reason for a failure.
export default defineConfig({
  root: join(import.meta.dirname, ".."),
  test: {
    env: { LOG_LEVEL: "silent" },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["{server,components,e2e}/**/*.test.{ts,tsx}"],
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
          fileParallelism: false,
        },
      },
    ],
  },
});
