/**
 * Where to go on to, when an address of the page's own says so: a path of this site, however a browser would read it (it
 * drops tabs and line breaks, and takes `\\` for `/`), else the home page.
 * @param address as it came; absent counts as the home page
 * @param origin of this site
 * @returns path, query and fragment, beginning with one slash
 */
export function sameOriginPath(address: string | undefined, origin = "http://here.invalid"): string {
  const site = new URL(origin).origin;
  const url = address !== undefined && URL.canParse(address, site) ? new URL(address, site) : undefined;
  if (url?.origin !== site) return "/";
  // A path of two slashes would be read as another host where it is put alone.
  return `${url.pathname.replace(/^\/+/, "/")}${url.search}${url.hash}`;
}
