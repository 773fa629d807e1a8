const KEY = "treadle.layout";

/** Keeps an area's size in pixels and shows it at once as the CSS variable --layout-{name}. */
export function storeLayout(name: string, size: number): void {
  document.documentElement.style.setProperty(`--layout-${name}`, `${size}px`);
  try {
    const sizes: Record<string, number> = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    localStorage.setItem(KEY, JSON.stringify({ ...sizes, [name]: size }));
  } catch {
    // Without storage (private window, full disk) the size lasts until the page closes, which is good enough.
  }
}
