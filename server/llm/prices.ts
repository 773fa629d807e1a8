import type { ProviderId } from "#server/llm/kinds.ts";

// THE price list: what vendors ask per million tokens, in US dollars. To correct it, change the row (or add one), set `as_of`
// to the day on which you read the vendor's page, and keep to what that page says of standard calls, no batches. One installation that pays other prices needs no change here: an LLM key has prices of its own, which count
// first. What was recorded before keeps the cost that it was recorded with.

/** What a model costs where it is called. */
export interface ListPrice {
  provider: ProviderId;
  /** Host of the endpoint, of services that are reached by a base URL. */
  host?: string;
  /**
   * Model id. It also stands for the same id with a date or a version after it (`gpt-4.1-2025-04-14`), never for another model
   * whose id begins alike (`gpt-4.1-mini`). With `*` at its end it stands for every id that begins so.
   */
  match: string;
  /** US dollars for a million tokens. */
  input_per_million: number;
  output_per_million: number;
  /** Of input that the vendor read from its cache and says so; left out where it does not, or where no price of it was looked up. */
  cached_input_per_million?: number;
  /** A call with more input tokens has another price, which is then not known. */
  input_up_to?: number;
  /** The last day of this price. */
  until?: string;
  /** The page that says so. */
  source: string;
}

type Row = [match: string, input: number, output: number, more?: Pick<ListPrice, "input_up_to" | "until" | "cached_input_per_million">];

const listed = (place: Pick<ListPrice, "provider" | "host" | "source">, rows: readonly Row[]): ListPrice[] =>
  rows.map(([match, input_per_million, output_per_million, more]) => ({ ...place, match, input_per_million, output_per_million, ...more }));

const anthropic = { provider: "anthropic", source: "https://platform.claude.com/docs/en/about-claude/pricing" } as const;
const openai = { provider: "openai", source: "https://developers.openai.com/api/docs/pricing" } as const;
const gemini = { provider: "gemini", source: "https://ai.google.dev/gemini-api/docs/pricing" } as const;
const mistral = { provider: "mistral", source: "https://mistral.ai/pricing" } as const;
// A router, whose price is that of the service behind it: only an id that names the service says which.
const huggingface = { provider: "huggingface", source: "https://groq.com/pricing" } as const;
// Deployments that bear the name of their model, of the type Global Standard.
const azure = { provider: "azure", source: "https://azure.microsoft.com/pricing/details/azure-openai/" } as const;
const groq = { provider: "openai_compatible", host: "api.groq.com", source: "https://groq.com/pricing" } as const;

const cached = (cached_input_per_million: number) => ({ cached_input_per_million });
/** Mistral asks a tenth for what it reads from its cache (https://docs.mistral.ai/studio-api/conversations/advanced/prompt-caching). */
const withTenth = ([match, input, output]: readonly [string, number, number]): Row => [
  match,
  input,
  output,
  cached(Number((input / 10).toFixed(6))),
];

const UP_TO_100K = { input_up_to: 100_000 };
const UP_TO_200K = { input_up_to: 200_000 };
const UP_TO_270K = { input_up_to: 270_000 };

export const priceList: { as_of: string; currency: "USD"; models: readonly ListPrice[] } = {
  as_of: "2026-10-07",
  currency: "USD",
  models: [
    ...listed(anthropic, [
      ["claude-fable-5-2", 8, 40],
      ["claude-fable-5-1", 10, 50],
      ["claude-fable-5", 10, 50],
      ["claude-opus-5-5", 4, 20],
      ["claude-opus-5", 5, 25],
      ["claude-opus-4-8", 5, 25],
      ["claude-opus-4-7", 5, 25],
      ["claude-opus-4-6", 5, 25],
      ["claude-opus-4-5", 5, 25],
      ["claude-opus-4-1", 15, 75],
      ["claude-opus-4-0", 15, 75],
      ["claude-opus-4", 15, 75],
      ["claude-sonnet-5-5", 2, 10],
      ["claude-sonnet-5", 2, 10],
      ["claude-sonnet-4-6", 3, 15],
      ["claude-sonnet-4-5", 3, 15],
      ["claude-sonnet-4-0", 3, 15],
      ["claude-sonnet-4", 3, 15],
      ["claude-haiku-5-5", 0.1, 0.5, UP_TO_100K],
      ["claude-haiku-4-5", 1, 5],
      ["claude-3-5-haiku", 0.8, 4],
      ["claude-3-haiku", 0.25, 1.25],
    ]),
    ...listed(openai, [
      ["gpt-6.1-sol", 2, 10, { ...UP_TO_270K, ...cached(0.1) }],
      ["gpt-6-sol", 2, 10, { ...UP_TO_270K, ...cached(0.2) }],
      ["gpt-5.5-pro", 30, 180],
      ["gpt-5.5", 5, 30, { ...UP_TO_270K, ...cached(0.5) }],
      ["gpt-5.4-mini", 0.75, 4.5, cached(0.075)],
      ["gpt-5.4-nano", 0.2, 1.25, cached(0.02)],
      ["gpt-5.4", 2.5, 15, { ...UP_TO_270K, ...cached(0.25) }],
      ["gpt-5.2", 1.75, 14, cached(0.175)],
      ["gpt-5.1", 1.25, 10],
      ["gpt-5.1-chat", 1.25, 10],
      ["gpt-5", 1.25, 10],
      ["gpt-5-chat", 1.25, 10],
      ["gpt-5-mini", 0.25, 2, cached(0.025)],
      ["gpt-5-nano", 0.05, 0.4],
      ["gpt-4.1", 2, 8, cached(0.5)],
      ["gpt-4.1-mini", 0.4, 1.6],
      ["gpt-4.1-nano", 0.1, 0.4],
      ["gpt-4o-2024-05-13", 5, 15],
      ["gpt-4o", 2.5, 10, cached(1.25)],
      ["gpt-4o-mini", 0.15, 0.6, cached(0.075)],
      ["o3", 2, 8],
      ["o4-mini", 1.1, 4.4],
      ["o3-mini", 1.1, 4.4, cached(0.55)],
      ["o1", 15, 60, cached(7.5)],
      ["gpt-4-turbo", 10, 30],
      ["gpt-3.5-turbo", 0.5, 1.5],
      ["text-embedding-3-small", 0.02, 0],
      ["text-embedding-3-large", 0.13, 0],
    ]),
    ...listed(gemini, [
      ["gemini-3.8-flash", 0.75, 3.75, { until: "2026-12-31" }],
      ["gemini-3.5-flash", 1.5, 9],
      ["gemini-3.5-flash-lite", 0.3, 2.5],
      ["gemini-3.1-pro-preview", 2, 12, UP_TO_200K],
      ["gemini-2.5-pro", 1.25, 10, UP_TO_200K],
      ["gemini-2.5-flash", 0.3, 2.5],
      ["gemini-2.5-flash-lite", 0.1, 0.4],
    ]),
    // Names that end in -latest move from model to model, and their price with them: only those that were looked up are here.
    ...listed(
      mistral,
      (
        [
          ["mistral-medium-latest", 1.5, 7.5],
          ["mistral-medium-3.5", 1.5, 7.5],
          ["mistral-medium-3-5", 1.5, 7.5],
          ["mistral-medium-2508", 0.4, 2],
          ["mistral-medium-2505", 0.4, 2],
          ["mistral-large-2512", 0.5, 1.5],
          ["mistral-large-2411", 2, 6],
          ["mistral-small-2506", 0.1, 0.3],
          ["codestral-2508", 0.3, 0.9],
        ] as const
      ).map(withTenth),
    ),
    ...listed(huggingface, [["meta-llama/Llama-3.3-70B-Instruct:groq", 0.59, 0.79]]),
    ...listed(azure, [
      ["gpt-5", 1.25, 10],
      ["gpt-5-mini", 0.25, 2],
      ["gpt-5-nano", 0.05, 0.4],
      ["gpt-4.1", 2, 8],
      ["gpt-4.1-mini", 0.4, 1.6],
      ["gpt-4.1-nano", 0.1, 0.4],
      ["gpt-4o", 2.5, 10],
      ["gpt-4o-mini", 0.15, 0.6],
      ["o4-mini", 1.1, 4.4],
      ["o3-mini", 1.1, 4.4],
    ]),
    ...listed(groq, [
      ["llama-3.3-70b-versatile", 0.59, 0.79],
      ["llama-3.1-8b-instant", 0.05, 0.08],
    ]),
  ],
};
