import type { Page } from "@playwright/test";

/** What a thumb would miss: controls that take presses on less than 44 pixels either way. Not on cards, which are as large as the zoom makes them. */
export const smallTargets = (page: Page) =>
  page.evaluate(() => {
    const small: string[] = [];
    for (const control of document.querySelectorAll<HTMLElement>("main :is(button, input, textarea, [role=combobox])")) {
      if (control.closest(".react-flow") || control.matches(":disabled, [aria-hidden=true]") || !control.checkVisibility()) continue;
      // A field for files, say, that a button stands for.
      if (control.offsetWidth <= 1) continue;
      control.scrollIntoView({ block: "center", inline: "nearest" });
      const { x, y, width, height } = control.getBoundingClientRect();
      const [left, top] = [x + width / 2, y + height / 2];
      const isHit = (dx: number, dy: number) => {
        const hit = document.elementFromPoint(left + dx, top + dy);
        return hit !== null && (control.contains(hit) || hit.closest("label")?.htmlFor === control.id);
      };
      const reach = (dx: number, dy: number) => {
        let pixels = 0;
        while (pixels < 44 && isHit(dx * (pixels + 1), dy * (pixels + 1))) pixels++;
        return pixels;
      };
      const seen = [reach(-1, 0) + reach(1, 0) + 1, reach(0, -1) + reach(0, 1) + 1];
      // Where it begins between two pixels, one less is counted.
      if (seen.some((pixels) => pixels < 43))
        small.push(`${control.ariaLabel || control.textContent || control.outerHTML.slice(0, 200)}: ${seen.join(" × ")}`);
    }
    return small;
  });
