import type { Page, Request } from "@playwright/test";
import { until } from "#e2e/until.ts";

/** Later than this nobody waits for a page, in milliseconds. */
const LATER_MS = 10_000;

/**
 * Bytes of JavaScript, compressed as they came over the line, that a page asks for until it asks for nothing more by itself.
 * @param page in a window of its own: its clock is put forward, so that what a timer loads is counted too
 * @param open goes to the page, and resolves when it is drawn
 */
export async function scriptBytes(page: Page, open: () => Promise<void>): Promise<number> {
  const scripts: Request[] = [];
  let ended = 0;
  page.on("request", (request) => request.resourceType() === "script" && scripts.push(request));
  page.on("requestfinished", (request) => scripts.includes(request) && ended++);
  await page.clock.install();
  await open();
  await page.waitForLoadState("networkidle");
  await page.clock.fastForward(LATER_MS);
  // What the timers have asked for is known here when the page has answered again.
  await page.evaluate(() => document.title);
  await until(() => ended === scripts.length);
  const sizes = await Promise.all(scripts.map((request) => request.sizes()));
  return sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
}
