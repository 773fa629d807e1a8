import ipaddr from "ipaddr.js";
import { cidrOf, isWithin } from "#server/shared/cidr.ts";

// The rules of curl for proxies: https://curl.se/docs/manpage.html, ENVIRONMENT.

/** A proxy that outgoing requests take. */
export interface ProxyServer {
  /** True when the connection to the proxy itself is encrypted. */
  isTls: boolean;
  /** Name or IP address, without brackets. */
  host: string;
  port: number;
  /** `user:password`, decoded; undefined without a user. */
  credentials: string | undefined;
  /** Address without user and password. */
  shown: string;
}

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;

/** Ports of a proxy whose address has none. */
const DEFAULT_PORTS = { "http:": 1080, "https:": 443 } as const;

const isProxyScheme = (scheme: string): scheme is keyof typeof DEFAULT_PORTS => scheme in DEFAULT_PORTS;

/** Returns the port as written: URL drops it when it is the scheme's own. */
const writtenPort = (address: string): string | undefined => /:(\d+)\/?$/.exec(address.replace(/^.*@/s, ""))?.[1];

const credentialsOf = ({ username, password }: URL): string | undefined =>
  username === "" && password === "" ? undefined : `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;

/** Reads `[http://][user:password@]host[:port]`. @returns undefined for another scheme, a path, or a stray % in the password */
export function proxyServerOf(text: string): ProxyServer | undefined {
  const address = SCHEME.test(text) ? text : `http://${text}`;
  const url = URL.parse(address);
  if (!url?.hostname || !isProxyScheme(url.protocol) || url.pathname + url.search + url.hash !== "/") return undefined;
  const port = Number(writtenPort(address) ?? DEFAULT_PORTS[url.protocol]);
  try {
    return {
      isTls: url.protocol === "https:",
      host: url.hostname.replace(/^\[|\]$/g, ""),
      port,
      credentials: credentialsOf(url),
      shown: `${url.protocol}//${url.hostname}:${port}`,
    };
  } catch {
    return undefined;
  }
}

/** True for a proxy address that names its scheme. */
export const hasScheme = (text: string): boolean => SCHEME.test(text);

/**
 * Returns the test of a NO_PROXY list: true for a host, without brackets, that is called directly. Entries are separated by commas or
 * blanks. A name covers itself and the names below it, with or without a leading dot; an address or a range covers addresses;
 * `*` covers everything when it is the only entry.
 */
export function bypassTest(list: string): (host: string) => boolean {
  const entries = list.split(/[\s,]+/).filter((entry) => entry !== "");
  if (entries.length === 1 && entries[0] === "*") return () => true;
  const ranges = entries.map(cidrOf).filter((range) => range !== undefined);
  const names = entries.map((entry) => entry.replace(/^\.|\.$/g, "").toLowerCase()).filter((name) => name !== "");

  return (host) => {
    if (ipaddr.isValid(host)) return ranges.some((range) => isWithin(ipaddr.parse(host), range));
    const name = host.replace(/\.$/, "").toLowerCase();
    return names.some((suffix) => name === suffix || name.endsWith(`.${suffix}`));
  };
}
