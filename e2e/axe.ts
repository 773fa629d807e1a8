import { createRequire } from "node:module";
import type { Page } from "@playwright/test";
import type axe from "axe-core";

/** The shorter of the two scripts of the package, for which it has no types. */
const { source } = createRequire(import.meta.url)("axe-core/axe.min.js") as typeof axe;

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

/** Set on an element whose contrast need not be examined again, for as long as axe looks. */
const SEEN = "data-contrast-seen";

/** By theme, what has been examined by this process: letters over backgrounds, each as what makes its contrast. */
const examined = { light: new Set<string>(), dark: new Set<string>() };

/**
 * Runs in the page: marks each element without letters of its own, and each whose contrast is known: of the same colour, size and
 * weight over the same backgrounds as others that were examined, or that come before it in this page. To find what lies under an
 * element takes longer than all that axe does besides, and nearly all of a page looks like what was looked at already.
 * What is placed over others (absolute, fixed, sticky and moved) is examined each time. What axe may pass over, as what is switched
 * off and labels of what is, makes no look known.
 * @returns what is examined now and was not known
 */
function markSeen({ known, mark, within }: { known: string[]; mark: string; within: string | null }): string[] {
  interface Ground {
    /** The backgrounds under an element, down to one that covers all below it. */
    paint: string;
    /** What makes it and its ancestors paler. */
    fade: string;
    /** What lies under it is not said by its ancestors. */
    isLoose: boolean;
  }
  const grounds = new Map<Element, Ground>();
  const groundOf = (element: Element | null): Ground => {
    if (!element) return { paint: "", fade: "", isLoose: false };
    const before = grounds.get(element);
    if (before) return before;
    const { backgroundColor, backgroundImage, opacity, filter, mixBlendMode, position, bottom, right } = getComputedStyle(element);
    const under = groundOf(element.parentElement);
    // Until somebody scrolls, what sticks to the top or the left lies where the others make room for it.
    const isMoved = () => bottom !== "auto" || right !== "auto" || isScrolled(element);
    const isOpaque = backgroundImage === "none" && !backgroundColor.startsWith("rgba") && !backgroundColor.includes("/");
    const own = `${backgroundColor} ${backgroundImage}`;
    const isOverOthers = position === "absolute" || position === "fixed" || (position === "sticky" && isMoved());
    const ground: Ground = {
      paint: isOpaque ? own : `${own} > ${under.paint}`,
      fade: `${under.fade}${opacity === "1" ? "" : ` ${opacity}`}${filter === "none" ? "" : ` ${filter}`}${mixBlendMode === "normal" ? "" : mixBlendMode}`,
      isLoose: !isOpaque && (isOverOthers || under.isLoose),
    };
    grounds.set(element, ground);
    return ground;
  };
  const isScrolled = (element: Element): boolean => {
    for (let up = element.parentElement; up; up = up.parentElement) if (up.scrollTop || up.scrollLeft) return true;
    return false;
  };
  /** Axe does not look at what lies wholly outside of an ancestor that cuts off what does. */
  const isCutOff = (element: Element): boolean => {
    const box = element.getBoundingClientRect();
    for (let up = element.parentElement; up; up = up.parentElement) {
      const cut = up.getBoundingClientRect();
      const isOutside = box.right <= cut.left || box.left >= cut.right || box.bottom <= cut.top || box.top >= cut.bottom;
      if (isOutside && /hidden|clip/.test(getComputedStyle(up).overflow)) return true;
    }
    return false;
  };
  const seen = new Set(known);
  const fresh: string[] = [];
  for (const element of (within === null ? document.body : document.querySelector(within))?.querySelectorAll("*") ?? []) {
    const letters = [...element.childNodes].map((child) => (child.nodeType === Node.TEXT_NODE ? child.textContent : "")).join("");
    if (!letters.trim() && !element.matches("input, select, textarea")) element.setAttribute(mark, "");
    // A single letter is left to whoever reads the report.
    if (!/\w{2}/.test(letters)) continue;
    const { width, height } = element.getBoundingClientRect();
    const { color, fontSize, fontWeight, textShadow, visibility } = getComputedStyle(element);
    const { paint, fade, isLoose } = groundOf(element);
    if (isLoose || width < 2 || height < 2 || visibility !== "visible") continue;
    const look = [color, fontSize, fontWeight, textShadow, fade, paint].join("; ");
    if (seen.has(look)) element.setAttribute(mark, "");
    else if (!element.closest(":disabled, [aria-disabled=true], [aria-hidden=true], [inert], label, legend") && !isCutOff(element)) {
      seen.add(look);
      fresh.push(look);
    }
  }
  return fresh;
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
  if (!(await page.evaluate(() => "axe" in window))) {
    await page.evaluate(source);
    await page.evaluate((mark) => window.axe.configure({ rules: [{ id: "color-contrast", selector: `*:not([${mark}])` }] }), SEEN);
  }
  const theme = (await page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches)) ? "dark" : "light";
  const fresh = await page.evaluate(markSeen, { known: [...examined[theme]], mark: SEEN, within: within ?? null });
  const faults = await page.evaluate(
    async ([selector, tags, theme]) => {
      const runOnly = theme === "dark" ? { type: "rule" as const, values: ["color-contrast"] } : { type: "tag" as const, values: tags };
      // No page has a frame in it, and no rule of ours reads a style sheet.
      const options = { runOnly, iframes: false, preload: false, selectors: false, resultTypes: ["violations" as const] };
      const { violations } = await window.axe.run(selector ?? document, options);
      return violations.map(({ id, nodes }) => `${theme}: ${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`);
    },
    [within, TAGS, theme] as const,
  );
  await page.evaluate((mark) => {
    for (const element of document.querySelectorAll(`[${mark}]`)) element.removeAttribute(mark);
  }, SEEN);
  if (faults.length === 0) for (const look of fresh) examined[theme].add(look);
  return faults;
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
