import { isIP, type Socket } from "node:net";
import ipaddr from "ipaddr.js";

/** Begins an IPv4 address that is mapped into IPv6 (RFC 4291, section 2.5.5.2). */
const MAPPED = "::ffff:";

/**
 * An address as one writes it: without brackets, port and zone, and an IPv4 address that was mapped into IPv6 as itself.
 * @returns undefined for what is no address
 */
export function plainAddress(text: string | undefined): string | undefined {
  if (!text) return undefined;
  // Nearly all come as one of these two; the second where the service listens on IPv6 too.
  const short = text.startsWith(MAPPED) ? text.slice(MAPPED.length) : text;
  if (isIP(short) === 4) return short;
  const [bare = ""] = text
    .trim()
    .replace(/^\[([^\]]*)\](:\d+)?$/, "$1")
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1")
    .split("%");
  return isIP(bare) ? ipaddr.process(bare).toString() : undefined;
}

/**
 * Whose budget an address spends. Of IPv6 it is the /64: that is what one customer gets, and each of its 2^64 addresses
 * would be another client otherwise.
 */
export function budgetOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const prefix = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${prefix.map((group) => group.toString(16)).join(":")}::/64`;
}

/** The address at the other end of a connection. */
export const ownAddress = ({ remoteAddress }: Socket): string => plainAddress(remoteAddress) ?? "unknown";
