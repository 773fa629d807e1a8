import { AppError } from "#server/platform/errors.ts";
import { isSameSecret } from "#server/platform/secrets.ts";
import { appUrl, settings } from "#server/platform/settings.ts";

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

/** Header by which server/http/front/front.ts proves that the x-forwarded headers are its own. */
export const FRONT_HEADER = "x-treadle-front";

/** Header by which the front tells a page the nonce of its policy. */
export const NONCE_HEADER = "x-nonce";

/** The nonce of a page's policy. */
export const nonceOf = (headers: Headers): string | undefined => headers.get(NONCE_HEADER) ?? undefined;

/** Header by which the front says that a request came from this machine itself. */
export const ON_MACHINE_HEADER = "x-treadle-on-machine";

/** Returns the facts that the front adds to a request, or null for a request that did not come through it. */
type FrontFacts = { address: string | null; isHttps: boolean; isOnMachine: boolean } | null;

const takenFacts = new WeakMap<Headers, FrontFacts>();

function readFacts(headers: Headers): FrontFacts {
  const { TREADLE_FRONT_TOKEN } = settings();
  const sent = headers.get(FRONT_HEADER);
  if (TREADLE_FRONT_TOKEN === undefined || sent === null || !isSameSecret(sent, TREADLE_FRONT_TOKEN)) return null;
  return {
    address: headers.get("x-forwarded-for"),
    isHttps: headers.get("x-forwarded-proto") === "https",
    isOnMachine: headers.get(ON_MACHINE_HEADER) === "1",
  };
}

function factsOf(headers: Headers): FrontFacts {
  const taken = takenFacts.get(headers);
  return taken === undefined ? readFacts(headers) : taken;
}

/**
 * Removes the front's own headers from a request, so that nothing that stores or shows a request can contain them. What they say
 * stays known for this object; for a copy, see `keepFrontFacts`.
 */
export function takeFrontHeaders(headers: Headers): void {
  if (takenFacts.has(headers)) return;
  takenFacts.set(headers, readFacts(headers));
  for (const name of [FRONT_HEADER, ON_MACHINE_HEADER, NONCE_HEADER]) headers.delete(name);
}

/** Makes known for a copy of a request's headers what the front says about the request. */
export const keepFrontFacts = (from: Headers, copy: Headers): unknown => takenFacts.set(copy, factsOf(from));

/** Address of the client as the front saw it; `unknown` when the request did not come through the front. */
export const clientAddress = (headers: Headers): string => factsOf(headers)?.address || "unknown";

/** True when people reach this service over HTTPS, so that cookies must be secure ones. */
export const isHttps = (headers: Headers): boolean => factsOf(headers)?.isHttps ?? appUrl().startsWith("https:");

const isOwnOrigin = (headers: Headers, origin: string): boolean => {
  const scheme = isHttps(headers) ? "https" : "http";
  const own = [new URL(appUrl()).origin, `${scheme}://${headers.get("x-forwarded-host")}`, `${scheme}://${headers.get("host")}`];
  return own.includes(origin);
};

/** What a page of ours asks for: data, or the page that a form leads to. Not an image, a script, a frame or a style. */
const OURS = new Set(["empty", "document"]);

/**
 * Guards what a browser does with its session against other sites, and against what stands in our own pages: the browser
 * itself says where a request comes from and what its answer is wanted for.
 * @throws AppError PERMISSION_DENIED unless the request comes from a page of this service, for data or a page
 */
export function assertSameOrigin(headers: Headers): void {
  const destination = headers.get("sec-fetch-dest");
  if (destination !== null && !OURS.has(destination))
    throw new AppError("PERMISSION_DENIED", "What a page only shows, such as an image, may not change anything. Use an API key.");
  if (headers.get("sec-fetch-site") === "same-origin") return;
  const origin = headers.get("origin");
  if (origin && isOwnOrigin(headers, origin)) return;
  throw new AppError(
    "PERMISSION_DENIED",
    "A signed-in browser may only send this from a page of this service. From anywhere else, use an API key.",
  );
}

/** Where a request comes from. */
export interface Visitor {
  /** Of the client, for what is counted. */
  address: string;
  /** Whether somebody at the machine that runs this service asks, and no page of another site that they have open. */
  isOnThisMachine: boolean;
}

export function visitorOf(headers: Headers): Visitor {
  const origin = headers.get("origin");
  const isOnThisMachine = factsOf(headers)?.isOnMachine === true && (origin === null || isOwnOrigin(headers, origin));
  return { address: clientAddress(headers), isOnThisMachine };
}
