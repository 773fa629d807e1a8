import type { IncomingMessage } from "node:http";
import type { Settings } from "#server/platform/settings.ts";

export interface HostFault {
  status: 400 | 421;
  detail: string;
}

/** A name or an address, with a port or without; RFC 3986 without the characters that only user information or escapes need. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~-]+)(?::\d{1,5})?$/i;

const UNCLEAR: HostFault = { status: 400, detail: "The request must name one host. Send one Host header with a name or an address." };

/**
 * Returns what is wrong with the host that a request names (RFC 9112, section 3.2): several Host headers, one that is no host, or an
 * absolute address of another host. Programs before and behind this server may each read another of two hosts.
 */
export function hostFault(
  { headers, rawHeaders, url = "/" }: IncomingMessage,
  { APP_URL }: Pick<Settings, "APP_URL">,
): HostFault | undefined {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length;
  if (hosts > 1 || (headers.host && !HOST.test(headers.host))) return UNCLEAR;
  if (url.startsWith("/") || !URL.canParse(url)) return undefined;

  const target = new URL(url);
  const own = URL.parse(APP_URL ?? `${target.protocol}//${headers.host}`)?.host;
  if (target.host === own) return undefined;
  return { status: 421, detail: "This server does not answer for the host in the address of the request. Send the path alone." };
}
