import { defineConfig } from "@playwright/test";
import config from "#e2e/playwright.config.ts";

// The server that the journeys share answers browsers late, as over a slow network (late-answers.ts).
process.env.LATE_ANSWERS_MS ??= "1000";

// `npm run test:faults`: the tests of faults at length, of which `npm test -- --all` has a short form, and all journeys once more over
// a slow network. Those of faults start what they need.
export default defineConfig({
  ...config,
  metadata: { isLong: true },
  workers: 2,
  projects: [
    // 200 kills: four times fifty, each with its own seed.
    { name: "kills", testMatch: "system/load-crash.spec.ts", repeatEach: 4, timeout: 900_000 },
    { name: "faults", testMatch: "system/{workers,database-crash,readings-crash}.spec.ts", timeout: 600_000 },
    { name: "late", testMatch: "ui/**/*.spec.ts", timeout: 180_000 },
  ],
});
