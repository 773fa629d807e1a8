import { type Settings, settings } from "#server/platform/settings.ts";
import { bypassTest, type ProxyServer, proxyServerOf } from "#server/shared/proxy-address.ts";

type ProxySetting = "OUTGOING_PROXY" | "HTTP_PROXY" | "HTTPS_PROXY" | "ALL_PROXY";

/** A proxy with the setting that names it. */
export interface OutgoingProxy extends Omit<ProxyServer, "credentials"> {
  /** Value of Proxy-Authorization; undefined without a user. */
  authorization: string | undefined;
  setting: ProxySetting;
}

interface ProxyRules {
  http: OutgoingProxy | undefined;
  https: OutgoingProxy | undefined;
  isBypassed: (host: string) => boolean;
}

function firstProxy(env: Settings, ...names: ProxySetting[]): OutgoingProxy | undefined {
  const setting = names.find((name) => env[name] !== undefined);
  const server = setting && proxyServerOf(env[setting] ?? "");
  if (!server) return undefined;
  const { credentials, ...address } = server;
  const authorization = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString("base64")}`;
  return { ...address, authorization, setting };
}

function readRules(env: Settings): ProxyRules | undefined {
  if (env.OUTGOING_PROXY === undefined) return undefined;
  const isEnvironment = env.OUTGOING_PROXY === "env";
  return {
    http: isEnvironment ? firstProxy(env, "HTTP_PROXY", "ALL_PROXY") : firstProxy(env, "OUTGOING_PROXY"),
    https: isEnvironment ? firstProxy(env, "HTTPS_PROXY", "ALL_PROXY") : firstProxy(env, "OUTGOING_PROXY"),
    isBypassed: bypassTest(env.NO_PROXY ?? ""),
  };
}

let known: { env: Settings; rules: ProxyRules | undefined } | undefined;

function proxyRules(): ProxyRules | undefined {
  const env = settings();
  if (known?.env !== env) known = { env, rules: readRules(env) };
  return known.rules;
}

/** Host without brackets and without the dot that may end a name. */
const bareHost = (host: string): string => host.replace(/^\[|\]$|\.$/g, "");

/** Returns the proxy that a request takes; undefined when it goes directly. */
export function proxyFor({ protocol, hostname }: Pick<URL, "protocol" | "hostname">): OutgoingProxy | undefined {
  const rules = proxyRules();
  if (!rules || rules.isBypassed(bareHost(hostname))) return undefined;
  return protocol === "https:" ? rules.https : rules.http;
}

/** True for the address of a configured proxy itself, which is no target of requests. */
export function isProxyAddress({ protocol, hostname, port }: URL): boolean {
  const { http, https } = proxyRules() ?? {};
  const target = Number(port || (protocol === "https:" ? 443 : 80));
  return [http, https].some((proxy) => proxy?.host === bareHost(hostname) && proxy.port === target);
}

/** The proxies of this install without user and password; null where requests go directly. */
export interface ShownProxy {
  http: string | null;
  https: string | null;
}

/** Returns the proxies for people; undefined while none is set. */
export function shownProxy(): ShownProxy | undefined {
  const rules = proxyRules();
  return rules && { http: rules.http?.shown ?? null, https: rules.https?.shown ?? null };
}
