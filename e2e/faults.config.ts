import { defineConfig } from "@playwright/test";
import config from "#e2e/playwright.config.ts";

// `npm run test:faults`: the tests of faults at length, of which `npm test` has a short form. Each starts what it needs.
const { globalSetup: _shared, ...others } = config;

export default defineConfig({
  ...others,
  metadata: { isLong: true },
  projects: [{ name: "faults", testMatch: "system/{load-crash,workers,database-crash}.spec.ts", timeout: 600_000 }],
});
