import { lookup as dnsLookup } from "node:dns";
import { BlockList, isIP, isIPv6, type LookupFunction } from "node:net";
import { settings } from "#server/platform/settings.ts";

/**
 * How far an outgoing request may go. `public`: the internet only. `private`: also this machine and its networks, but
 * not link-local addresses, where clouds keep their metadata. `any`: everywhere.
 */
export type Reach = "public" | "private" | "any";

/**
 * How far requests to an endpoint that was configured may go: its address may be private when an install admin saved it so, or
 * the operator wrote it into the settings. Whoever makes a project is its admin, so that alone says nothing.
 */
export function endpointReach(isPrivateAllowed: boolean): Reach {
  if (settings().ALLOW_PRIVATE_NETWORK) return "any";
  return isPrivateAllowed ? "private" : "public";
}

/** For an address that a caller, a model or a run's data chose: the internet only, unless the operator opened the own network. */
export const chosenReach = (): Reach => endpointReach(false);

/** An outgoing request that was not made because of where it would have gone. Its text is for people. */
export class AddressRefused extends Error {
  constructor(host: string) {
    super(
      `The address ${host} is on a private or reserved network, which this install does not call. Use a public address, or have the operator set ALLOW_PRIVATE_NETWORK=1. A private address of an LLM key, an MCP server, a knowledge source or SEARXNG_URL is called too once an install admin has saved it.`,
    );
    this.name = "AddressRefused";
  }
}

function blockList(...subnets: string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address = "", bits] = subnet.split("/");
    list.addSubnet(address, Number(bits), isIPv6(address) ? "ipv6" : "ipv4");
  }
  return list;
}

// What an install may reach in its own surroundings: loopback, private ranges, carrier-grade NAT (also Tailscale), ULA.
const NEARBY = blockList("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "::1/128", "fc00::/7");

// Metadata services inside those ranges (AWS over IPv6, Alibaba) or on public addresses (Azure).
const METADATA = blockList("100.100.100.200/32", "168.63.129.16/32", "fd00:ec2::254/128");

const RESERVED = blockList(
  "0.0.0.0/8",
  "169.254.0.0/16",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "::/96", // unspecified, and IPv4-compatible addresses, long deprecated; ::1 is nearby
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/23",
  "2001:db8::/32",
  "3fff::/20",
  "5f00::/16",
  "fe80::/10",
  "fec0::/10",
  "ff00::/8",
);

const isIn = (list: BlockList, address: string) => list.check(address, isIPv6(address) ? "ipv6" : "ipv4");

/** The 16 bytes of an IPv6 address, as eight groups. */
function groupsOf(address: string): number[] {
  const plain = new URL(`http://[${address.split("%")[0]}]`).hostname.slice(1, -1);
  const [head = "", tail] = plain.split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)));
  if (tail === undefined) return groups(head);
  const [before, after] = [groups(head), groups(tail)];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

/** The IPv4 address that an IPv6 one stands for (mapped, translated by NAT64, tunnelled by 6to4), else the address itself. */
function destinationOf(address: string): string {
  if (!isIPv6(address)) return address;
  const groups = groupsOf(address);
  const v4 = (high = 0, low = 0) => [high >> 8, high & 255, low >> 8, low & 255].join(".");
  const starts = (...prefix: number[]) => prefix.every((group, index) => groups[index] === group);
  if (starts(0, 0, 0, 0, 0, 0xffff) || starts(0x64, 0xff9b, 0, 0, 0, 0)) return v4(groups[6], groups[7]);
  if (starts(0x2002)) return v4(groups[1], groups[2]);
  return address;
}

/** True when a request of this reach may go to the IP address. */
export function isReachable(ip: string, reach: Reach): boolean {
  if (reach === "any") return true;
  const address = destinationOf(ip);
  if (isIn(METADATA, address)) return false;
  if (isIn(NEARBY, address)) return reach === "private";
  return !isIn(RESERVED, address);
}

/**
 * A `lookup` for a socket that resolves only to addresses within reach, so that what was checked is what is connected
 * to, whatever a name server says a moment later. An IP address as host never gets here: see `checkUrl`.
 */
export const guardedLookup =
  (reach: Reach, resolve: typeof dnsLookup = dnsLookup): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, "", 0);
      const allowed = addresses.filter(({ address }) => isReachable(address, reach));
      const first = allowed[0];
      if (!first) return callback(new AddressRefused(hostname), "", 0);
      if (options.all) return callback(null, allowed);
      callback(null, first.address, first.family);
    });
  };

/**
 * What can be said of a URL before any name is resolved.
 * @throws AddressRefused for an IP address out of reach, and for a scheme other than http and https
 */
export function checkUrl(url: URL, reach: Reach): void {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isWeb = url.protocol === "http:" || url.protocol === "https:";
  if (!isWeb || (isIP(host) && !isReachable(host, reach))) throw new AddressRefused(url.host || url.protocol);
}

/**
 * Refuses a configured address early, for a form; each request checks again when it connects.
 * A name that does not resolve passes: the machine may be offline just now.
 * @throws AddressRefused
 */
export async function assertReachable(url: URL, reach: Reach): Promise<void> {
  checkUrl(url, reach);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host)) return;
  await new Promise<void>((resolve, reject) => {
    guardedLookup(reach)(host, { all: true }, (error) => (error instanceof AddressRefused ? reject(error) : resolve()));
  });
}
