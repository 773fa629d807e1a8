import { wireModel } from "#server/llm/client.ts";
import { type ProviderId, providerKind } from "#server/llm/kinds.ts";
import { type ListPrice, priceList } from "#server/llm/prices.ts";

/** A price of an LLM key's own: `model` is an id, or the beginning of ids with `*` at its end. US dollars per million tokens. */
interface OwnPrice extends Rates {
  model: string;
}

interface Rates {
  input_per_million: number;
  /** Of input that was read from a cache; left out, as other input. */
  cached_input_per_million?: number | undefined;
  output_per_million: number;
}

type Price = Rates & Pick<ListPrice, "input_up_to" | "until">;

/** Where a model is called. */
export interface PricedPlace {
  provider: ProviderId;
  model: string;
  baseUrl: string | null;
  /** The LLM key's own prices, which count first. */
  prices: readonly OwnPrice[];
  /** The project's for this provider, which count before the list. */
  projectPrices?: readonly OwnPrice[];
}

/** What one answer of a model used. */
export interface TokenCount {
  input_tokens: number;
  /** Of the input tokens: those from a cache. */
  cached_tokens?: number;
  output_tokens: number;
}

/** A date or a version at the end of an id, which leaves the model the same: -2025-04-14, -20250414, -001, -latest. */
const VERSION = /^-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{3}|latest)$/;

const hostOf = (url: string | null): string | undefined => (url === null ? undefined : URL.parse(url)?.host);

/** How well a pattern fits an id: 0 not at all; the longer the better, and the whole id best. */
function closeness(pattern: string, model: string): number {
  if (pattern.endsWith("*")) return model.startsWith(pattern.slice(0, -1)) ? pattern.length : 0;
  if (pattern === model) return Number.MAX_SAFE_INTEGER;
  return model.startsWith(pattern) && VERSION.test(model.slice(pattern.length)) ? pattern.length : 0;
}

function bestOf<Price>(prices: readonly Price[], patternOf: (price: Price) => string, model: string): Price | undefined {
  let best: Price | undefined;
  let most = 0;
  for (const price of prices) {
    const fits = closeness(patternOf(price).toLowerCase(), model);
    if (fits > most) [best, most] = [price, fits];
  }
  return best;
}

/** A gateway in front of a vendor asks what it likes, so the vendor's prices hold only at the vendor's own address. */
function isThere(price: ListPrice, { provider, baseUrl }: PricedPlace): boolean {
  if (price.provider !== provider) return false;
  if (price.host !== undefined) return hostOf(baseUrl) === price.host;
  const { baseUrl: own } = providerKind(provider);
  return baseUrl === null || own === null || hostOf(baseUrl) === hostOf(own);
}

/**
 * What a call cost, by the key's own prices, the project's, or else the price list (server/llm/prices.ts).
 * @param today the day of the call, `2026-11-21`
 * @returns US dollars; null when the price is not known, or the service did not say how many tokens it took
 */
export function costOf(place: PricedPlace, used: TokenCount, today = new Date().toISOString().slice(0, 10)): number | null {
  const { provider, prices, projectPrices = [] } = place;
  const model = wireModel(provider, place.model).toLowerCase();
  const bestOwn = (own: readonly OwnPrice[]): Price | undefined => bestOf(own, (price) => wireModel(provider, price.model), model);
  const own = bestOwn(prices) ?? bestOwn(projectPrices);
  const there = priceList.models.filter((price) => isThere(price, place));
  const known: Price | undefined = own ?? bestOf(there, (price) => price.match, model);
  if (!known) return null;
  const { input_up_to = Number.POSITIVE_INFINITY, until = "9999" }: Pick<ListPrice, "input_up_to" | "until"> = known;
  if (used.input_tokens > input_up_to || today > until) return null;
  const isFree = known.input_per_million === 0 && known.output_per_million === 0;
  // Every question has tokens; 0 is what is counted where none were told.
  if (used.input_tokens === 0 && !isFree) return null;
  const cached = Math.min(used.cached_tokens ?? 0, used.input_tokens);
  const { cached_input_per_million = known.input_per_million } = known;
  const input = (used.input_tokens - cached) * known.input_per_million + cached * cached_input_per_million;
  const cost = (input + used.output_tokens * known.output_per_million) / 1_000_000;
  return Number(cost.toFixed(12));
}
