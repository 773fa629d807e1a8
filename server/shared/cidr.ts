import ipaddr from "ipaddr.js";

/** A range of addresses: its first one and the number of bits that all of them share. */
export type Cidr = [network: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** Reads `10.8.0.0/16`, or an address alone. @returns undefined for anything else */
export function cidrOf(value: string): Cidr | undefined {
  if (ipaddr.isValidCIDR(value)) return ipaddr.parseCIDR(value);
  if (!(ipaddr.IPv4.isValidFourPartDecimal(value) || ipaddr.IPv6.isValid(value))) return undefined;
  const address = ipaddr.parse(value);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

export const isWithin = (address: ipaddr.IPv4 | ipaddr.IPv6, [network, bits]: Cidr): boolean =>
  network.kind() === address.kind() && address.match(network, bits);
