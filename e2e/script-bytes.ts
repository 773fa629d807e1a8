import type { Page } from "@playwright/test";

/** Bytes of JavaScript, compressed as they came over the line, that were asked for before the first card stood on the canvas. */
export async function scriptBytes(page: Page, open: () => Promise<void>): Promise<number> {
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (!document.querySelector(".react-flow__node")) return;
      performance.mark("first-card");
      observer.disconnect();
    }).observe(document, { subtree: true, childList: true });
  });
  await open();
  return page.evaluate(() => {
    const drawn = performance.getEntriesByName("first-card")[0]?.startTime ?? Number.POSITIVE_INFINITY;
    const scripts = performance.getEntriesByType("resource").filter(({ name, startTime }) => /\.js(\?|$)/.test(name) && startTime < drawn);
    return scripts.reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).encodedBodySize, 0);
  });
}
