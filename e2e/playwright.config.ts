import { join } from "node:path";
import { defineConfig } from "@playwright/test";
import { browserOptions } from "#e2e/browser.ts";

// Every step takes a stack trace or two, of fifty frames. For files that Playwright compiles it looks each frame up in a source map,
// which is two fifths of what a worker does; where Node takes the types out (run-tests.ts) every line is where it was.
if (process.env.PW_DISABLE_TS_ESM) Reflect.deleteProperty(Error, "prepareStackTrace");

const artifacts = join(import.meta.dirname, "artifacts");
const browser = await browserOptions();

/** How the browser runs scripts (flags of V8); heaps in MB. */
const SCRIPTS = [
  // No page lives long enough to win back what the compilers that optimize its scripts cost: a sixth of its process's time.
  "--no-opt --no-maglev",
  // Compiled whole, a script is in the browser's cache with all its functions: else most are compiled anew for each page.
  "--no-lazy",
  // With a heap that begins large, and is not tidied after each page, hardly any page is looked through before it is gone.
  "--initial-heap-size=800 --min-semi-space-size=128 --max-semi-space-size=128",
  "--no-memory-reducer --no-idle-gc-on-context-disposal --no-minor-gc-task",
].join(" ");

/**
 * The language of the browser, as its environment. Playwright's own option for it (`locale`, English unless told otherwise) is set
 * page by page, and each time Chromium goes through the whole heap of the page's process.
 */
const ENGLISH = { LANGUAGE: "en_US", LC_ALL: "en_US.UTF-8" };

export default defineConfig({
  testDir: import.meta.dirname,
  outputDir: join(artifacts, "results"),
  globalSetup: [join(import.meta.dirname, "data-template.ts"), join(import.meta.dirname, "global-setup.ts")],
  // A file is cut into as many pieces as there are workers when its tests may run beside each other, and what stands in `beforeAll` is
  // started for each piece. Journeys start next to nothing of their own; those that do say so (`mode: "default"`).
  fullyParallel: false,
  // Three keep the two cores of a small machine busy; the fourth is for the specs that mostly wait.
  workers: 4,
  retries: 0, // a test that passes at the second try is a fault to find, in the product or in itself
  timeout: 60_000,
  expect: { timeout: 15_000 },
  forbidOnly: Boolean(process.env.CI),
  // Its end is what a CI log shows first: every failure whole, behind all the lines.
  reporter: [["list"], ["json", { outputFile: join(artifacts, "playwright.json") }]],
  use: {
    // To trace every action takes a good part of a browser test's time: `--trace retain-on-failure` does it for a fault that the
    // picture and the outline of the page do not explain.
    trace: "off",
    screenshot: "only-on-failure",
    viewport: { width: 1440, height: 900 },
    // Without a graphics card each frame of a motion is drawn by the processor. What moves is tried with motion where it says so.
    contextOptions: { reducedMotion: "reduce" },
    launchOptions: {
      ...browser,
      args: [...(browser.args ?? []), `--js-flags=${SCRIPTS}`],
      env: { ...process.env, ...browser.env, ...ENGLISH } as Record<string, string>,
    },
    locale: "", // left to ENGLISH
  },
  projects: [
    // Each starts servers of its own, with a database each, and waits for them about half of its time. First and one by one: so
    // there is always one beside three of the others, and the machine never waits with it.
    { name: "system", testMatch: "system/**/*.spec.ts", timeout: 180_000, workers: 1 },
    // What attackers tried against a running install; `npm run test:security` runs these alone.
    { name: "security", testMatch: "security/**/*.spec.ts", timeout: 180_000, workers: 2 },
    { name: "api", testMatch: "api/**/*.spec.ts", workers: 2 },
    // A browser's test waits for a server, and the other way round. A fourth would make the others as much slower as it does itself.
    { name: "ui", testMatch: "ui/**/*.spec.ts", workers: 3, fullyParallel: true },
  ],
});
