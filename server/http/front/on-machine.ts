import type { IncomingMessage } from "node:http";
import { ownAddress, plainAddress } from "#server/platform/net/client-address.ts";
import type { Settings } from "#server/platform/settings.ts";

/** Whether an address, or the name in an address, is this machine's own: 127.0.0.0/8, ::1, localhost and names under it. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  if (name === "localhost" || name.endsWith(".localhost")) return true;
  const address = plainAddress(name);
  return address === "::1" || address?.startsWith("127.") === true;
}

/** What a proxy that stands here leaves in what it passes on. */
const PASSED_ON = /^(x-forwarded-|x-real-ip$|forwarded$|via$|cf-)/;

/**
 * Whether a request comes from this machine itself, and was not passed on by a proxy that stands here. nginx leaves no other trace
 * than HTTP/1.0 when nothing is set.
 */
export const isFromHere = ({ socket, headers, httpVersion }: IncomingMessage): boolean =>
  isLoopback(ownAddress(socket)) && httpVersion !== "1.0" && !Object.keys(headers).some((name) => PASSED_ON.test(name));

/**
 * Whether somebody at this machine asks it under a name of its own. Behind a proxy, which may be on the same machine, nobody can
 * know: so not where one is to be trusted, has left a trace, or stands before a public address; and a page of another site that has
 * its own name point here (DNS rebinding) sends that name.
 */
export function isOnMachine(request: IncomingMessage, { APP_URL, TRUST_PROXY }: Pick<Settings, "APP_URL" | "TRUST_PROXY">): boolean {
  const isPublic = APP_URL !== undefined && !isLoopback(new URL(APP_URL).hostname);
  const { host = "" } = request.headers;
  const name = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : "";
  return !isPublic && !TRUST_PROXY && isLoopback(name) && isFromHere(request);
}
