import { toCanvas } from "html-to-image";

/** Pixels of the picture for each of the page, so that it is sharp where it is shown larger. */
const SCALE = 2;
/** The line that says of when it is, at the foot of the widget in place of its age: its height, where its words begin, their size; in pixels of the page. */
const CAPTION = { height: 31, left: 16, font: 12 } as const;

const unquoted = (family: string): string => family.trim().replace(/^["']|["']$/g, "");

/** The rules of the page's own fonts with the fonts in them: what is drawn as a picture loads nothing. */
async function embeddedFonts(families: ReadonlySet<string>): Promise<string> {
  const faces = [...document.styleSheets].flatMap((sheet) =>
    [...sheet.cssRules].flatMap((rule) =>
      rule instanceof CSSFontFaceRule && families.has(unquoted(rule.style.getPropertyValue("font-family")))
        ? [{ rule, base: sheet.href ?? document.baseURI }]
        : [],
    ),
  );
  const rules = faces.map(async ({ rule, base }) => {
    const source = /url\(["']?([^"'()]+)["']?\)/.exec(rule.style.getPropertyValue("src"))?.[1];
    if (!source || source.startsWith("data:")) return rule.cssText;
    const answer = await fetch(new URL(source, base));
    return answer.ok ? rule.cssText.replace(source, await dataUrl(await answer.blob())) : "";
  });
  return (await Promise.all(rules)).join("\n");
}

const dataUrl = (blob: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });

/** In a picture nothing is scrolled. */
const NO_BARS = "* { scrollbar-width: none !important }";

/** What shows itself under the pointer, as the share of a ring does in place of the sum, shows itself no more. */
async function unpoint(widget: HTMLElement): Promise<void> {
  const pointed = [...widget.querySelectorAll(":hover")].at(-1);
  pointed?.dispatchEvent(new PointerEvent("pointerout", { bubbles: true, relatedTarget: document.body }));
  await new Promise(requestAnimationFrame);
}

/**
 * A picture of a widget as it stands on the page, in the colours of its theme and without its controls.
 * @param caption of when it is, for its last line
 * @returns a PNG
 * @throws what the browser says when it cannot draw it
 */
export async function pictureOf(widget: HTMLElement, caption: string): Promise<Blob> {
  const { backgroundColor, color, fontFamily } = getComputedStyle(widget);
  await unpoint(widget);
  const whole = await toCanvas(widget, {
    pixelRatio: SCALE,
    // In place of the corners.
    backgroundColor,
    fontEmbedCSS: `${await embeddedFonts(new Set(fontFamily.split(",").map(unquoted)))} ${NO_BARS}`,
    // What is not for paper is not for a picture either.
    filter: (node) => !(node instanceof Element && node.classList.contains("print:hidden")),
  });
  const pen = whole.getContext("2d");
  if (!pen) throw new Error("There is no memory left for a picture.");
  // By the pixels that came out: a browser draws a very large one smaller.
  const scale = whole.width / widget.offsetWidth;
  const top = whole.height - CAPTION.height * scale;
  pen.fillStyle = backgroundColor;
  pen.fillRect(CAPTION.left * scale, top, whole.width - 2 * CAPTION.left * scale, (CAPTION.height - 4) * scale);
  pen.fillStyle = color;
  pen.font = `${CAPTION.font * scale}px ${fontFamily}`;
  pen.textBaseline = "middle";
  pen.fillText(caption, CAPTION.left * scale, top + 11 * scale, whole.width - 2 * CAPTION.left * scale);
  const file = await new Promise<Blob | null>((resolve) => whole.toBlob(resolve, "image/png"));
  if (!file) throw new Error("The picture is too large for this browser.");
  return file;
}
