import type { Page } from "@playwright/test";
import axe from "axe-core";

declare global {
  interface Window {
    /** Where a page was examined. */
    axe: typeof axe;
  }
}

/** WCAG 2.2 AA, as axe names its rules. */
const TAGS = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"];
/** Animations that are given up, e.g. since what they move is gone, in milliseconds. */
const LONGEST_ANIMATION_MS = 2000;

/** Waits until colours are what they are going to be; a spinner never is. */
async function atRest(page: Page): Promise<void> {
  await page.evaluate(async (longest) => {
    // What begins with the next frame counts too.
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const ending = document
      .getAnimations()
      .filter((motion) => motion.playState === "running" && motion.effect?.getComputedTiming().iterations !== Infinity);
    const limit = new Promise((resolve) => setTimeout(resolve, longest));
    await Promise.race([limit, Promise.allSettled(ending.map((motion) => motion.finished))]);
  }, LONGEST_ANIMATION_MS);
}

/**
 * What axe finds wrong with a page by the rules of WCAG 2.2 AA: in light by all of them, in dark by that of contrast, since
 * nothing else differs and every state is examined in light too.
 * @param within examine this part only (a CSS selector)
 * @returns a line for each broken rule, with the elements
 */
export async function axeFaults(page: Page, within?: string): Promise<string[]> {
  await atRest(page);
  // Once for each document: reading half a megabyte of rules takes longer than most of them.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source);
  return page.evaluate(
    async ([selector, tags]) => {
      const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
      const runOnly = isDark ? { type: "rule" as const, values: ["color-contrast"] } : { type: "tag" as const, values: tags };
      // No page has a frame in it, and no rule of ours reads a style sheet.
      const options = { runOnly, iframes: false, preload: false, selectors: false, resultTypes: ["violations" as const] };
      const { violations } = await window.axe.run(selector ?? document, options);
      return violations.map(
        ({ id, nodes }) => `${isDark ? "dark" : "light"}: ${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`,
      );
    },
    [within, TAGS] as const,
  );
}

/** The same in both themes, one after the other; the page is light and without motion afterwards. */
export async function axeFaultsInBothThemes(page: Page, within?: string): Promise<string[]> {
  const faults: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    faults.push(...(await axeFaults(page, within)));
  }
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  return faults;
}
