import type { Page } from "@playwright/test";

/** Later than this nobody waits for a page, in milliseconds. */
const LATER_MS = 10_000;

/**
 * Bytes of JavaScript, compressed, that a page asks for until it asks for nothing more by itself; what the browser had already counts
 * as well.
 * @param page with a clock of its own (`page.clock.install()`), which is put forward, so that what a timer loads is counted too
 * @param open goes to the page, and resolves when it is drawn
 */
export async function scriptBytes(page: Page, open: () => Promise<void>): Promise<number> {
  await open();
  await page.waitForLoadState("networkidle");
  await page.clock.fastForward(LATER_MS);
  await page.waitForLoadState("networkidle");
  // An observer, since a page with a clock of ours has a list of its own that stays empty.
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const observer = new PerformanceObserver((list) => {
          const read = list.getEntries() as PerformanceResourceTiming[];
          const scripts = read.filter(({ name }) => new URL(name).pathname.endsWith(".js"));
          const sizes = new Map(scripts.map(({ name, encodedBodySize }) => [name, encodedBodySize]));
          resolve([...sizes.values()].reduce((sum, size) => sum + size, 0));
        });
        observer.observe({ type: "resource", buffered: true });
      }),
  );
}
