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

async function themeOf(page: Page): Promise<"light" | "dark"> {
  return (await page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches)) ? "dark" : "light";
}

/** Set on an element whose contrast need not be examined again, for as long as axe looks. */
const SEEN = "data-contrast-seen";

/** By theme, what has been examined by this process: letters over backgrounds, each as what makes its contrast. */
const examined = { light: new Set<string>(), dark: new Set<string>() };

/**
 * Runs in the page: marks each element that axe passes over, and each whose contrast is known: of the same colour, size and weight
 * over the same backgrounds as others that were examined, or that come before it in this page. To find what lies under an element
 * takes longer than all that axe does besides, and nearly all of a page looks like what was looked at already.
 * What is placed over others (absolute, fixed, sticky and moved) is examined each time. A label makes no look known: axe passes over
 * those of what is switched off.
 * @returns what is examined now and was not known, and how many elements are left to examine
 */
function markSeen({ known, mark, within }: { known: string[]; mark: string; within: string | null }): { fresh: string[]; left: number } {
  interface Ground {
    /** The backgrounds under an element, down to one that covers all below it. */
    paint: string;
    /** It or an ancestor is not drawn in its own colours: it is paler, filtered or blended. */
    isFaded: boolean;
    /** What lies under it is not said by its ancestors. */
    isLoose: boolean;
  }
  const grounds = new Map<Element, Ground>();
  const groundOf = (element: Element | null): Ground => {
    if (!element) return { paint: "", isFaded: false, isLoose: false };
    const before = grounds.get(element);
    if (before) return before;
    const { backgroundColor, backgroundImage, opacity, filter, mixBlendMode, position, bottom, right } = getComputedStyle(element);
    const under = groundOf(element.parentElement);
    // Until somebody scrolls, what sticks to the top or the left lies where the others make room for it.
    const isMoved = () => bottom !== "auto" || right !== "auto" || isScrolled(element);
    const fade = `${opacity} ${filter} ${mixBlendMode}`;
    const isFaded = under.isFaded || fade !== "1 none normal";
    const isOpaque = backgroundImage === "none" && !backgroundColor.startsWith("rgba") && !backgroundColor.includes("/") && !isFaded;
    const isClear = backgroundImage === "none" && backgroundColor === "rgba(0, 0, 0, 0)" && fade === "1 none normal";
    const isOverOthers = position === "absolute" || position === "fixed" || (position === "sticky" && isMoved());
    const own = `${backgroundColor} ${backgroundImage} ${fade}`;
    const ground: Ground = {
      paint: isOpaque ? own : isClear ? under.paint : `${own} > ${under.paint}`,
      isFaded,
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
  const switchedOff = ":disabled, [aria-disabled=true], [aria-hidden=true], [inert]";
  const fields = "select, textarea, input:not([type=checkbox], [type=radio], [type=range], [type=color])";
  /** No letters, a single one (left to whoever reads axe's report), what nobody sees, and what is switched off. */
  const isPassedOver = (element: Element, letters: string): boolean => {
    if (letters.length < 2 && !element.matches(fields)) return true;
    if (!element.checkVisibility({ visibilityProperty: true }) || element.closest(switchedOff)) return true;
    const { width, height } = element.getBoundingClientRect();
    return width < 2 && height < 2 && getComputedStyle(element).overflow === "hidden";
  };
  const seen = new Set(known);
  const fresh: string[] = [];
  let left = 0;
  const root = within === null ? document.body : document.querySelector(within);
  for (const element of root ? [root, ...root.querySelectorAll("*")] : []) {
    const texts = [...element.childNodes].map((child) => (child.nodeType === Node.TEXT_NODE ? child.textContent : ""));
    const letters = texts.join("").trim();
    if (isPassedOver(element, letters)) {
      element.setAttribute(mark, "");
      continue;
    }
    const { width, height } = element.getBoundingClientRect();
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element);
    const { paint, isLoose } = groundOf(element);
    const look = isLoose || width < 2 || height < 2 ? undefined : [color, fontSize, fontWeight, textShadow, paint].join("; ");
    if (look && seen.has(look)) {
      element.setAttribute(mark, "");
      continue;
    }
    left += 1;
    const isExamined = (/\w{2}/.test(letters) || element.matches(fields)) && !element.closest("label, legend") && !isCutOff(element);
    if (look && isExamined) {
      seen.add(look);
      fresh.push(look);
    }
  }
  return { fresh, left };
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
  const theme = await themeOf(page);
  const { fresh, left } = await page.evaluate(markSeen, { known: [...examined[theme]], mark: SEEN, within: within ?? null });
  // In dark axe is asked for contrast only.
  const hasNothingLeft = theme === "dark" && left === 0;
  const examine = () =>
    page.evaluate(
      async ([selector, tags, theme]) => {
        const runOnly = theme === "dark" ? { type: "rule" as const, values: ["color-contrast"] } : { type: "tag" as const, values: tags };
        // No page has a frame in it, and no rule of ours reads a style sheet.
        const options = { runOnly, iframes: false, preload: false, selectors: false, resultTypes: ["violations" as const] };
        const { violations } = await window.axe.run(selector ?? document, options);
        return violations.map(({ id, nodes }) => `${theme}: ${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`);
      },
      [within, TAGS, theme] as const,
    );
  const faults = hasNothingLeft ? [] : await examine();
  await page.evaluate((mark) => {
    for (const element of document.querySelectorAll(`[${mark}]`)) element.removeAttribute(mark);
  }, SEEN);
  if (faults.length === 0) for (const look of fresh) examined[theme].add(look);
  return faults;
}

/** The same in both themes; the page is in the other one afterwards, and without motion. */
export async function axeFaultsInBothThemes(page: Page, within?: string): Promise<string[]> {
  await page.emulateMedia({ reducedMotion: "reduce" });
  const faults = await axeFaults(page, within);
  await page.emulateMedia({ colorScheme: (await themeOf(page)) === "dark" ? "light" : "dark" });
  return [...faults, ...(await axeFaults(page, within))];
}
