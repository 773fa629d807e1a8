import { lookup as dnsLookup } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { isProxyAddress, proxyFor } from "#server/platform/net/outgoing-proxy.ts";
import { settings } from "#server/platform/settings.ts";
import { isWithin } from "#server/shared/cidr.ts";

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

const ADVICE =
  "Use a public address, or have the operator set ALLOW_PRIVATE_NETWORK=1. A private address of an LLM key, an MCP server, a knowledge source or SEARXNG_URL is called too once an install admin has saved it.";

/**
 * An outgoing request that was not made because of where it would have gone. Its text is for people. For a name it does not say
 * whether the name exists: otherwise the names of a private network could be found by trying.
 */
export class AddressRefused extends Error {
  constructor(host: string, isName = false) {
    super(
      isName
        ? `The name ${host} does not lead to a public address: it does not exist, or it is on a private or reserved network, which this install does not call. Check the name. ${ADVICE}`
        : `The address ${host} is on a private or reserved network, which this install does not call. ${ADVICE}`,
    );
    this.name = "AddressRefused";
  }
}

/** A request to the address of the configured proxy itself: a proxy answers such requests with pages of its own. */
class ProxyRefused extends AddressRefused {
  constructor(host: string) {
    super(host);
    this.message = `The address ${host} is the proxy of this install, which is not called by itself. Use the address of the server behind it.`;
  }
}

/** What an install may reach in its own surroundings, by the names of ipaddr.js; Tailscale lives in that of carriers. */
const NEARBY: ReadonlySet<string> = new Set(["loopback", "private", "carrierGradeNat", "uniqueLocal"]);

// Metadata services inside those ranges (AWS over IPv6, Alibaba) or on public addresses (Azure).
const METADATA: ReadonlySet<string> = new Set(["100.100.100.200", "168.63.129.16", "fd00:ec2::254"]);

const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");
/** Long deprecated; who still takes one for the IPv4 address in it would be led past this guard. */
const IPV4_COMPATIBLE = ipaddr.IPv6.parseCIDR("::/96");

/** The address that is reached: of an IPv6 one that is mapped, translated by NAT64 or tunnelled by 6to4, the IPv4 one in it. */
function destinationOf(ip: string): ipaddr.IPv4 | ipaddr.IPv6 {
  const [bare = ""] = ip.split("%");
  const address = ipaddr.process(bare);
  if (!(address instanceof ipaddr.IPv6)) return address;
  const bytes = address.toByteArray();
  if (address.match(NAT64)) return new ipaddr.IPv4(bytes.slice(12));
  return address.range() === "6to4" ? new ipaddr.IPv4(bytes.slice(2, 6)) : address;
}

/** Of no use outside a node (RFC 9780); not in the table of ipaddr.js. */
const DUMMY = ipaddr.IPv6.parseCIDR("100:0:0:1::/64");

/** The IPv4 address that an interface id of ISATAP (RFC 5214) leads to, whatever its prefix. */
function isatapTarget(address: ipaddr.IPv4 | ipaddr.IPv6): string | undefined {
  if (!(address instanceof ipaddr.IPv6)) return undefined;
  const [, , , , first = 0, second, ...rest] = address.parts;
  const isIsatap = (first & ~0x200) === 0 && second === 0x5efe;
  return isIsatap ? new ipaddr.IPv4(rest.flatMap((group) => [group >> 8, group & 0xff])).toString() : undefined;
}

/** True for what lies in the surroundings of the install, by its range or because the operator says so. */
const isNearby = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  NEARBY.has(address.range()) ||
  isWithin(address, DUMMY) ||
  settings().PRIVATE_NETWORKS?.some((network) => isWithin(address, network)) === true;

/** True when a request of this reach may go to the IP address. */
export function isReachable(ip: string, reach: Reach): boolean {
  if (reach === "any") return true;
  const address = destinationOf(ip);
  const range = address.range();
  const tunnelled = isatapTarget(address);
  if (METADATA.has(address.toString()) || (tunnelled !== undefined && !isReachable(tunnelled, "private"))) return false;
  if (isNearby(address) || (tunnelled !== undefined && range === "unicast")) return reach === "private";
  // Whatever has a purpose of its own, such as documentation, multicast or a link, has another name.
  return range === "unicast" && !(address instanceof ipaddr.IPv6 && address.match(IPV4_COMPATIBLE));
}

/**
 * A `lookup` for a socket that resolves only to addresses within reach, so that what was checked is what is connected
 * to, whatever a name server says a moment later. An IP address as host never gets here: see `checkUrl`. A name that does not
 * exist is refused in the same way as one that is out of reach, unless everything is within reach.
 */
export const guardedLookup =
  (reach: Reach, resolve: typeof dnsLookup = dnsLookup): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error && (error.code !== "ENOTFOUND" || reach === "any")) return callback(error, "", 0);
      const allowed = error ? [] : addresses.filter(({ address }) => isReachable(address, reach));
      const first = allowed[0];
      if (!first) return callback(new AddressRefused(hostname, true), "", 0);
      if (options.all) return callback(null, allowed);
      callback(null, first.address, first.family);
    });
  };

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "");

/** Names that mean the machine that resolves them: with a proxy that would be the proxy's own. */
const LOOPBACK_NAME = /^(?:(?:.+\.)?localhost(?:\.localdomain)?|ip6-(?:localhost|loopback))\.?$/;

/**
 * Checks a URL before any name is resolved. Other names than those of this machine are left to the proxy, where the request takes one.
 * @throws AddressRefused for an IP address out of reach, for the proxy itself, and for a scheme other than http and https
 */
export function checkUrl(url: URL, reach: Reach): void {
  const host = hostOf(url);
  const isWeb = url.protocol === "http:" || url.protocol === "https:";
  if (!isWeb || (isIP(host) && !isReachable(host, reach))) throw new AddressRefused(url.host || url.protocol);
  if (isProxyAddress(url)) throw new ProxyRefused(url.host);
  if (LOOPBACK_NAME.test(host) && proxyFor(url) && !isReachable("127.0.0.1", reach)) throw new AddressRefused(host, true);
}

/**
 * Refuses a configured address early, for a form; each request checks again when it connects. A name that does not resolve passes: the
 * machine may be offline just now. So does a name that the proxy resolves.
 * @throws AddressRefused
 */
export async function assertReachable(url: URL, reach: Reach): Promise<void> {
  checkUrl(url, reach);
  const host = hostOf(url);
  if (isIP(host) || proxyFor(url)) return;
  const addresses = await lookup(host, { all: true }).catch(() => []);
  if (addresses.length > 0 && !addresses.some(({ address }) => isReachable(address, reach))) throw new AddressRefused(host);
}
