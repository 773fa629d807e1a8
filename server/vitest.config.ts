import { join } from "node:path";
import { defineConfig } from "vitest/config";

const root = join(import.meta.dirname, "..");

// Unit tests are pure; *.int.test.ts use a real PostgreSQL, so files run one after another on a small machine.
export default defineConfig({
  root,
  resolve: { alias: { "server-only": join(import.meta.dirname, "testing/empty.ts") } },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["{server,components,e2e}/**/*.test.{ts,tsx}"],
          exclude: ["**/*.int.test.ts", "**/node_modules/**"],
        },
      },
      {
        extends: true,
        test: {
          name: "integration",
          include: ["server/**/*.int.test.ts"],
          testTimeout: 30_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
