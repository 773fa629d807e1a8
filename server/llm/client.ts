import { LRUCache } from "lru-cache";
import { APIError, AzureOpenAI, OpenAI } from "openai";
import type { ChatCompletionCreateParams } from "openai/resources/chat/completions";
import { hasDeployments, type ProviderId, providerKind } from "#server/llm/kinds.ts";
import type { Reach } from "#server/platform/net/guard.ts";
import { guardedFetch } from "#server/platform/net/guarded-fetch.ts";
import { readUpTo, textUpTo } from "#server/platform/net/read-up-to.ts";

/** Newest version of Azure's API that is not a preview and takes chat completions by deployment. */
const AZURE_API_VERSION = "2024-10-21";

/** An LLM key, ready to call with. */
export interface ModelEndpoint {
  provider: ProviderId;
  apiKey: string;
  /** Null means the vendor's own address. */
  baseUrl: string | null;
  /** Of a resource with deployments only; null means AZURE_API_VERSION. */
  apiVersion: string | null;
  /** The key's name, for errors. */
  keyName: string;
  /** How far its requests may go. */
  reach: Reach;
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

const withoutTrailingSlash = (url: string) => url.replace(/(?<!\/)\/+$/, "");

/**
 * Where an endpoint's requests go, without a trailing slash. An Azure resource gets the path of its chat API, unless the
 * key's address already ends in `/openai` or `/openai/v1`.
 */
export function baseUrlOf({ provider, baseUrl }: ModelEndpoint): string {
  const base = withoutTrailingSlash(baseUrl ?? providerKind(provider).baseUrl ?? "");
  if (hasDeployments(provider) && !/\/openai(\/v1)?$/.test(base)) return `${base}/openai`;
  return base;
}

/**
 * The id that goes over the wire. People type plain ids; one with the routing prefix of its kind is understood too.
 */
export function wireModel(provider: ProviderId, model: string): string {
  const { routingPrefix, keepsRoutingPrefix, hasOwnersInIds } = providerKind(provider);
  if (keepsRoutingPrefix || !routingPrefix || !model.startsWith(routingPrefix)) return model;
  const plain = model.slice(routingPrefix.length);
  return hasOwnersInIds && !plain.includes("/") ? model : plain;
}

/** How much of a refusal is read, in bytes. */
const MAX_REFUSAL_BYTES = 256 * 1024;
/** Longest answer that the SDK reads for itself, in bytes: vectors of many texts. */
const MAX_SDK_BYTES = 32 * 1024 * 1024;

/** What an answer that is no success says: its body, or where it redirects to. */
export async function wordsOfRefusal(response: Response, asked: string | URL | Request): Promise<unknown> {
  const { bytes } = await readUpTo(response, MAX_REFUSAL_BYTES);
  const text = new TextDecoder().decode(bytes);
  const target = response.headers.get("location");
  return response.status < 400 && target ? `It redirects to ${placeOf(target, asked)}` : parsed(text);
}

/** Bounds what is read, and keeps the body of a refusal for the error's text: the SDK would keep only a field named `error`. */
const keepingWords =
  (fetch: ReturnType<typeof guardedFetch>): typeof fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    const { status, headers } = response;
    if (status === 304) return response;
    if (response.ok) return new Response(await textUpTo(response, MAX_SDK_BYTES), { status, headers });
    return Response.json({ error: await wordsOfRefusal(response, input) }, { status, headers });
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

/** Stands where the SDK wants a key. */
const NO_KEY = "-";

function newClient(provider: ProviderId, baseURL: string, apiVersion: string, reach: Reach): OpenAI {
  const options = {
    apiKey: NO_KEY,
    baseURL,
    fetch: keepingWords(guardedFetch(reach)),
    maxRetries: 0,
    // Nothing of the process's own environment may reach a provider, and the SDK writes no log.
    organization: null,
    project: null,
    logLevel: "off",
    defaultHeaders: OWN_HEADERS,
  } as const;
  if (hasDeployments(provider) && !baseURL.endsWith("/v1")) return new AzureOpenAI({ ...options, apiVersion });
  return new OpenAI({ ...options, adminAPIKey: null });
}

// One for each address and reach, because making one costs more than asking with it. They hold no key.
const clients = new LRUCache<string, OpenAI>({ max: 500 });

function clientFor(endpoint: ModelEndpoint): OpenAI {
  const { provider, apiVersion, reach } = endpoint;
  const version = apiVersion ?? AZURE_API_VERSION;
  const base = baseUrlOf(endpoint);
  const place = JSON.stringify([provider, version, base, reach]);
  const known = clients.get(place);
  if (known) return known;
  const client = newClient(provider, base, version, reach);
  clients.set(place, client);
  return client;
}

/**
 * A client for the chat-completions API behind an LLM key, whatever its kind, and the headers without which it may not be
 * asked: they bear the key. It never retries, follows no redirect and connects only within the endpoint's reach
 * (server/platform/net/guard.ts).
 */
export function openModelClient(endpoint: ModelEndpoint): { client: OpenAI; headers: Record<string, string | null> } {
  const { provider, apiKey } = endpoint;
  // Azure's API without versions takes both headers; gateways in front of a resource know this one.
  const headers = hasDeployments(provider) ? { authorization: null, "api-key": apiKey } : { authorization: `Bearer ${apiKey}` };
  return { client: clientFor(endpoint), headers };
}

/**
 * Asks for a chat completion: what the SDK would send, sent by our own fetch. The SDK's way of sending has time limits and
 * tries of its own, which are ours here (chat.ts), and gives each request promises and signals that keep it in memory until
 * the next collection of old objects (see server/platform/abort.ts): it cost more than all else that a call needs of us.
 * @param body of the request, as the vendor wants it
 * @param signal cuts the connection, also while the answer is being read
 * @returns the answer's beginning; its body is still to be read
 * @throws APIError with the vendor's words for an answer that is no success; what `guardedFetch` throws
 */
export async function postChat(endpoint: ModelEndpoint, body: ChatCompletionCreateParams, signal: AbortSignal): Promise<Response> {
  const { client, headers } = openModelClient(endpoint);
  const { req, url } = await client.buildRequest({ method: "post", path: "/chat/completions", body, headers });
  const response = await guardedFetch(endpoint.reach)(url, { ...req, signal });
  if (response.ok) return response;
  throw APIError.generate(response.status, { error: await wordsOfRefusal(response, url) }, undefined, response.headers);
}
