/** Where the navigation is a rail unless somebody has opened it there: the editor of one workflow needs the room. */
export const EDITOR_PATH = /^\/workflows\/(?!templates(?:\/|$))[^/]+$/;

/**
 * Runs in <head> before anything is painted, so that theme, navigation and panel sizes never jump: sets data-theme,
 * data-nav, data-assistant and --layout-* on <html> from what the browser keeps. Style elements that scripts of the page make get its nonce: some
 * libraries bring their styles along so, and have no way of being told. Zod does not ask whether it may make code of texts: it may not.
 */
export const bootScript = `(() => {
  const root = document.documentElement;
  const { nonce } = document.currentScript;
  const createElement = document.createElement;
  document.createElement = function (...given) {
    const made = createElement.apply(this, given);
    if (made instanceof HTMLStyleElement) made.nonce = nonce;
    return made;
  };
  globalThis.__zod_globalConfig = { jitless: true };
  const read = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paint = () => {
    const choice = read("treadle.theme");
    root.dataset.theme = choice === "light" || choice === "dark" ? choice : dark.matches ? "dark" : "light";
  };
  paint();
  dark.addEventListener("change", paint);
  if (${EDITOR_PATH}.test(location.pathname) ? read("treadle.nav.editor") !== "full" : read("treadle.nav") === "rail") root.dataset.nav = "rail";
  if (read("treadle.assistant") === "open" && matchMedia("(width >= 48rem)").matches) root.dataset.assistant = "open";
  try {
    for (const [name, size] of Object.entries(JSON.parse(read("treadle.layout") ?? "{}")))
      if (Number.isFinite(size)) root.style.setProperty("--layout-" + name, size + "px");
  } catch {}
})();`;
