import { APIError } from "openai";
import type { ListedModels } from "#server/features/llm-keys/schema.ts";
import { baseUrlOf, type ModelEndpoint, wordsOfRefusal } from "#server/llm/client.ts";
import { type KeyFault, keyFault, ProviderError } from "#server/llm/errors.ts";
import { hasDeployments, providerKind } from "#server/llm/kinds.ts";
import { guardedFetch } from "#server/platform/net/guarded-fetch.ts";
import { textUpTo } from "#server/platform/net/read-up-to.ts";

const TIMEOUT_MS = 8000;
const MOST_MODELS = 1000;
/** Longest page of a listing that is read, in bytes. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Pages that are read at most. */
const MOST_PAGES = 20;

// The versions in which a resource lists its deployments with nothing but its key, newest first; later ones have no such
// operation. Resources differ in which of the two they still answer.
const AZURE_LISTING_VERSIONS = ["2023-03-15-preview", "2022-12-01"];

/** One entry of a listing, in any vendor's words. */
interface ListedModel {
  id?: unknown;
  display_name?: unknown;
  model?: unknown;
  status?: unknown;
  created?: unknown;
  capabilities?: { completion_chat?: unknown; chat_completion?: unknown };
}

interface Listing {
  url: string;
  headers: Record<string, string>;
}

/** One page of a listing: under `data`, or bare. Only Anthropic has further pages; the hub's are left, as it lists thousands. */
interface Page {
  data?: unknown;
  models?: unknown;
  has_more?: unknown;
  last_id?: unknown;
}

// Of those who list everything they serve, these take no chat messages.
const NOT_CHAT =
  /embed|whisper|tts|dall-e|moderation|image|imagen|veo|sora|audio|realtime|transcribe|davinci|babbage|aqa|instruct|codex|computer-use|deep-research|\blive\b/i;

// The same of a resource's deployments, told by the model behind each; others' chat models may be named "instruct" there.
const NOT_CHAT_DEPLOYED = /embed|whisper|tts|dall-e|gpt-image|sora|realtime|transcribe|davinci|babbage/i;

const bearerOf = ({ apiKey }: ModelEndpoint) => ({ authorization: `Bearer ${apiKey}` });

/** Where to ask, in this order until one answers with a list. */
function listingsOf(endpoint: ModelEndpoint): Listing[] {
  const { provider, apiKey } = endpoint;
  const base = baseUrlOf(endpoint);
  if (hasDeployments(provider))
    return AZURE_LISTING_VERSIONS.map((version) => ({
      url: `${base.replace(/\/v1$/, "")}/deployments?api-version=${version}`,
      headers: { "api-key": apiKey },
    }));
  const { ownListing } = providerKind(provider);
  if (endpoint.baseUrl !== null || !ownListing) return [{ url: `${base}/models`, headers: bearerOf(endpoint) }];
  const { url, keyHeader, headers } = ownListing;
  return [{ url, headers: { ...(keyHeader && { [keyHeader]: apiKey }), ...headers } }];
}

function isChatModel(endpoint: ModelEndpoint, model: ListedModel): boolean {
  if (typeof model.id !== "string" || model.id === "") return false;
  if (hasDeployments(endpoint.provider))
    return (model.status === undefined || model.status === "succeeded") && !NOT_CHAT_DEPLOYED.test(String(model.model ?? ""));
  if (model.capabilities?.completion_chat === false) return false;
  const isMixed = endpoint.baseUrl === null && providerKind(endpoint.provider).listsOtherModels;
  return !isMixed || !NOT_CHAT.test(model.id);
}

function entryOf({ id, display_name, model }: ListedModel): ListedModels["models"][number] {
  const name = String(id).replace(/^models\//, "");
  const label = display_name ?? model;
  return { id: name, ...(typeof label === "string" && label !== name && { label }) };
}

/** Newest first where a vendor says when a model was made; else in the vendor's own order. */
function newestFirst(models: ListedModel[]): ListedModel[] {
  const created = (model: ListedModel) => (typeof model.created === "number" ? model.created : 0);
  return models.toSorted((a, b) => created(b) - created(a));
}

/** The address of the page after this one; undefined when there is none. */
function nextPage(first: string, body: Page | unknown[]): string | undefined {
  if (Array.isArray(body) || body.has_more !== true || typeof body.last_id !== "string") return undefined;
  const url = new URL(first);
  url.searchParams.set("after_id", body.last_id);
  return url.href;
}

const refusal = async (response: Response, url: string): Promise<APIError> =>
  APIError.generate(response.status, { error: await wordsOfRefusal(response, url) }, undefined, response.headers);

async function listed(
  endpoint: ModelEndpoint,
  { url, headers }: Listing,
  fetch: ReturnType<typeof guardedFetch>,
  signal: AbortSignal,
): Promise<ListedModels["models"]> {
  const rows: unknown[] = [];
  let next: string | undefined = url;
  for (let page = 1; next !== undefined && rows.length < MOST_MODELS && page <= MOST_PAGES; page++) {
    const response = await fetch(next, { headers, signal });
    if (!response.ok) throw await refusal(response, next);
    const body = JSON.parse(await textUpTo(response, MAX_BYTES)) as Page | unknown[];
    const list = Array.isArray(body) ? body : (body.data ?? body.models);
    if (!Array.isArray(list)) throw new Error("The listing is no list.");
    rows.push(...list.slice(0, MOST_MODELS));
    next = list.length ? nextPage(url, body) : undefined;
  }
  const models = rows.filter((row): row is ListedModel => typeof row === "object" && row !== null && isChatModel(endpoint, row));
  const entries = newestFirst(models).map(entryOf);
  return [...new Map(entries.map((entry) => [entry.id, entry])).values()].slice(0, MOST_MODELS);
}

interface Asking {
  fetch?: ReturnType<typeof guardedFetch>;
  timeoutMs?: number;
}

/**
 * The models that a key can call: the vendor's live list, or our curated one when that cannot be had within 8 seconds.
 * Never throws; any other id may still be typed.
 * @param onProblem told why the vendor gave no list
 */
export async function listProviderModels(
  endpoint: ModelEndpoint,
  { fetch = guardedFetch(endpoint.reach), timeoutMs = TIMEOUT_MS, onProblem }: Asking & { onProblem?: (fault: KeyFault) => void } = {},
): Promise<ListedModels> {
  const signal = AbortSignal.timeout(timeoutMs);
  let problem: KeyFault | undefined;
  for (const listing of listingsOf(endpoint)) {
    try {
      const models = await listed(endpoint, listing, fetch, signal);
      if (models.length) return { source: "live", models };
    } catch (error) {
      // Offline, no right to list, another format: the curated list says as much in its `source`.
      problem = keyFault(error, endpoint, new URL(listing.url).host);
    }
  }
  if (problem !== undefined) onProblem?.(problem);
  return { source: "curated", models: providerKind(endpoint.provider).curatedModels.map((id) => ({ id })) };
}

/** Where a key is needed and nothing is paid, in this order until one of them is there. */
function checksOf(endpoint: ModelEndpoint): Listing[] {
  const { keyCheckUrl } = providerKind(endpoint.provider);
  return endpoint.baseUrl === null && keyCheckUrl ? [{ url: keyCheckUrl, headers: bearerOf(endpoint) }] : listingsOf(endpoint);
}

/**
 * Makes one call with a key, as a rule for the list of models, which costs nothing. A service that has no such list takes the
 * key for all that can be told without a model.
 * @throws ProviderError (UPSTREAM_ERROR): the provider's refusal, or why it could not be asked within 8 seconds
 */
export async function checkKey(
  endpoint: ModelEndpoint,
  { fetch = guardedFetch(endpoint.reach), timeoutMs = TIMEOUT_MS }: Asking = {},
): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs);
  for (const { url, headers } of checksOf(endpoint)) {
    const { host } = new URL(url);
    const refused = await fetch(url, { headers, signal }).then(
      async (response) => {
        if (!response.ok) return refusal(response, url);
        await response.body?.cancel();
        return undefined;
      },
      (error: unknown) => error,
    );
    if (refused === undefined) return;
    const { isRefused, text } = keyFault(refused, endpoint, host);
    if (isRefused) throw new ProviderError(text, { reason: "wrong_key" });
    const { status } = refused instanceof APIError ? refused : {};
    // Busy, or no such list here: neither speaks against the key.
    const isOtherwise = typeof status === "number" && status >= 400 && status < 500 && status !== 402;
    if (!isOtherwise) throw new ProviderError(`This key could not be checked. ${text}`);
  }
}
