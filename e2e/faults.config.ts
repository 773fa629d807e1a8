import { join } from "node:path";
import { defineConfig } from "@playwright/test";
import config from "#e2e/playwright.config.ts";

// `npm run test:faults`: the tests of faults at length, of which `npm test` has a short form. Each starts what it needs.
export default defineConfig({
  ...config,
  globalSetup: join(import.meta.dirname, "data-template.ts"),
  metadata: { isLong: true },
  workers: 2,
  projects: [
    // 200 kills: four times fifty, each with its own seed.
    { name: "kills", testMatch: "system/load-crash.spec.ts", repeatEach: 4, timeout: 900_000 },
    { name: "faults", testMatch: "system/{workers,database-crash,readings-crash}.spec.ts", timeout: 600_000 },
  ],
});
