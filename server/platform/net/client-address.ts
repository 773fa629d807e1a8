import { isIP, type Socket } from "node:net";

/** An IPv6 address as its eight groups in hexadecimal; the last two may be written as an IPv4 address. */
function groupsOf(address: string): string[] {
  const numeric = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
    [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)].map((group) => group.toString(16)).join(":"),
  );
  const [head = "", tail] = numeric.split("::");
  const [left, right] = [head, tail ?? ""].map((part) => (part ? part.split(":") : []));
  if (tail === undefined || !left || !right) return numeric.split(":");
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => "0"), ...right];
}

/**
 * An address as one writes it: without brackets, port and zone, and an IPv4 address that was mapped into IPv6 as itself.
 * @returns undefined for what is no address
 */
export function plainAddress(text: string | undefined): string | undefined {
  if (!text) return undefined;
  const [bare = ""] = text
    .trim()
    .replace(/^\[([^\]]*)\](:\d+)?$/, "$1")
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1")
    .split("%");
  if (isIP(bare) !== 6) return isIP(bare) === 4 ? bare : undefined;
  return /^(?:::|(?:0{1,4}:){5})ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1] ?? bare.toLowerCase();
}

/**
 * Whose budget an address spends. Of IPv6 it is the /64: that is what one customer gets, and each of its 2^64 addresses
 * would be another client otherwise.
 */
export function budgetOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const prefix = groupsOf(address)
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16));
  return `${prefix.join(":")}::/64`;
}

/** The address at the other end of a connection. */
export const ownAddress = ({ remoteAddress }: Socket): string => plainAddress(remoteAddress) ?? "unknown";
