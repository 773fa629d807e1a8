import { AzureOpenAI, OpenAI } from "openai";
import { configuredReach } from "#server/net/guard.ts";
import { guardedFetch } from "#server/net/guarded-fetch.ts";
import { type ProviderId, providerKind } from "#server/providers/kinds.ts";

/** Newest version of Azure's API that is not a preview and takes chat completions by deployment. */
const AZURE_API_VERSION = "2024-10-21";

/** An LLM key, ready to call with. */
export interface ModelEndpoint {
  provider: ProviderId;
  apiKey: string;
  /** Null means the vendor's own address. */
  baseUrl: string | null;
  /** azure only; null means AZURE_API_VERSION. */
  apiVersion: string | null;
  /** The key's name, for errors. */
  keyName: string;
}

/** Who asks, in place of what the SDK tells every vendor about this machine. */
const OWN_HEADERS = {
  "user-agent": "Treadle/1.0",
  ...Object.fromEntries(
    ["lang", "package-version", "os", "arch", "runtime", "runtime-version", "retry-count", "timeout"].map((name) => [
      `x-stainless-${name}`,
      null,
    ]),
  ),
};

const withoutTrailingSlash = (url: string) => url.replace(/\/+$/, "");

/**
 * Where an endpoint's requests go, without a trailing slash. An Azure resource gets the path of its chat API, unless the
 * key's address already ends in `/openai` or `/openai/v1`.
 */
export function baseUrlOf({ provider, baseUrl }: ModelEndpoint): string {
  const base = withoutTrailingSlash(baseUrl ?? providerKind(provider).baseUrl ?? "");
  if (provider === "azure" && !/\/openai(\/v1)?$/.test(base)) return `${base}/openai`;
  return base;
}

/**
 * The id that goes over the wire. People type plain ids; one with the routing prefix of its kind is understood too.
 * Compatible endpoints keep what was typed, because gateways use such prefixes in ids of their own.
 */
export function wireModel(provider: ProviderId, model: string): string {
  const { routingPrefix } = providerKind(provider);
  if (provider === "openai_compatible" || !routingPrefix || !model.startsWith(routingPrefix)) return model;
  const plain = model.slice(routingPrefix.length);
  // Ids of the hub are `owner/name`, and one owner bears the hub's own name: what is left must still be an id.
  return provider === "huggingface" && !plain.includes("/") ? model : plain;
}

/** Keeps the whole body of a refusal for the error's text: the SDK would keep only a field named `error`. */
const keepingWords =
  (fetch: ReturnType<typeof guardedFetch>): typeof fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    if (response.ok || response.status === 304) return response;
    const text = await response.text();
    const { status, headers } = response;
    const target = headers.get("location");
    if (status < 400 && target) return Response.json({ error: `It redirects to ${placeOf(target, input)}` }, { status, headers });
    return Response.json({ error: parsed(text) }, { status, headers });
  };

function placeOf(target: string, from: string | URL | Request): string {
  const url = URL.parse(target, String(from));
  return url ? `${url.origin}${url.pathname}` : "another address";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

// The SDK puts a signal that it knows into AbortSignal.any, which costs more than the rest of its part (see server/follow.ts).
const STOP = Symbol("the signal that ends a request");
type Stop = { [STOP]?: AbortSignal };

/** What to give the SDK for a request that ends with this signal, and by no time limit of the SDK's own. */
export const stoppedBy = (signal: AbortSignal): { fetchOptions: Stop & NonNullable<OpenAI.RequestOptions["fetchOptions"]> } => ({
  fetchOptions: { [STOP]: signal },
});

/** Stands where the SDK wants a key. */
const NO_KEY = "-";

function newClient(provider: ProviderId, baseURL: string, apiVersion: string): OpenAI {
  const options = {
    apiKey: NO_KEY,
    baseURL,
    fetch: keepingWords((input, init: RequestInit & Stop = {}) =>
      guardedFetch(configuredReach())(input, init[STOP] ? { ...init, signal: init[STOP] } : init),
    ),
    maxRetries: 0,
    // Nothing of the process's own environment may reach a provider, and the SDK writes no log.
    organization: null,
    project: null,
    logLevel: "off",
    defaultHeaders: OWN_HEADERS,
  } as const;
  if (provider === "azure" && !baseURL.endsWith("/v1")) return new AzureOpenAI({ ...options, apiVersion });
  return new OpenAI({ ...options, adminAPIKey: null });
}

// One for each address, because making one costs more than asking with it. They hold no key.
const clients = new Map<string, OpenAI>();
const MOST_CLIENTS = 500;

function clientFor(endpoint: ModelEndpoint): OpenAI {
  const { provider, apiVersion } = endpoint;
  const version = apiVersion ?? AZURE_API_VERSION;
  const base = baseUrlOf(endpoint);
  const place = JSON.stringify([provider, version, base]);
  const known = clients.get(place);
  if (known) return known;
  const client = newClient(provider, base, version);
  if (clients.size >= MOST_CLIENTS) clients.clear();
  clients.set(place, client);
  return client;
}

/**
 * A client for the chat-completions API behind an LLM key, whatever its kind, and the headers without which it may not be
 * asked: they bear the key. It never retries, follows no redirect and connects only where an endpoint that an admin
 * configured may be (server/net/guard.ts).
 */
export function openModelClient(endpoint: ModelEndpoint): { client: OpenAI; headers: Record<string, string | null> } {
  const { provider, apiKey } = endpoint;
  // Azure's API without versions takes both headers; gateways in front of a resource know this one.
  const headers = provider === "azure" ? { authorization: null, "api-key": apiKey } : { authorization: `Bearer ${apiKey}` };
  return { client: clientFor(endpoint), headers };
}
