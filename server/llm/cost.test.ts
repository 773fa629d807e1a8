import { expect, test } from "vitest";
import { costOf, type PricedPlace } from "#server/llm/cost.ts";
import { priceList } from "#server/llm/prices.ts";

const MILLION = { input_tokens: 1_000_000, output_tokens: 1_000_000 };
const SOME = { input_tokens: 1000, output_tokens: 100 };
const place = (more: Partial<PricedPlace>): PricedPlace => ({ provider: "openai", model: "gpt-4.1", baseUrl: null, prices: [], ...more });
const at = (more: Partial<PricedPlace>) => costOf(place(more), SOME);

test("input and output are added up, to the last of twelve digits", () => {
  expect(costOf(place({}), MILLION)).toBe(10);
  expect(at({})).toBe(0.0028);
  expect(costOf(place({ model: "gpt-4.1-nano" }), { input_tokens: 1, output_tokens: 2 })).toBe(0.0000009);
});

test("input from a cache has its own price where one is known, and else that of other input", () => {
  const half = { input_tokens: 1_000_000, cached_tokens: 500_000, output_tokens: 0 };
  expect(costOf(place({}), half)).toBe(1.25);
  expect(costOf(place({ provider: "mistral", model: "mistral-large-2411" }), half)).toBe(1.1);
  expect(costOf(place({ provider: "anthropic", model: "claude-haiku-4-5" }), half)).toBe(1);
  const own = { model: "gpt-4.1", input_per_million: 4, output_per_million: 0 };
  expect(costOf(place({ prices: [own] }), half)).toBe(4);
  expect(costOf(place({ prices: [{ ...own, cached_input_per_million: 0 }] }), half)).toBe(2);
  for (const { match, input_per_million, cached_input_per_million = 0 } of priceList.models)
    expect([match, cached_input_per_million <= input_per_million]).toEqual([match, true]);
});

test.each(["gpt-4.1-2025-04-14", "GPT-4.1", "gpt-4.1-latest"])("%s is gpt-4.1", (model) => {
  expect(at({ model })).toBe(0.0028);
});

test.each([
  ["anthropic", "claude-opus-4-20250514", 0.0225],
  ["anthropic", "claude-opus-4-5-20251101", 0.0075],
  ["anthropic", "claude-3-5-haiku-latest", 0.0012],
  ["openai", "gpt-4.1-mini-2025-04-14", 0.00056],
  ["openai", "gpt-4o-2024-05-13", 0.0065],
  ["openai", "gpt-4o-2024-11-20", 0.0035],
  ["gemini", "gemini/gemini-2.5-flash", 0.00055],
  ["gemini", "gemini-2.5-flash-lite", 0.00014],
  ["mistral", "mistral/mistral-medium-2508", 0.0006],
] as const)("%s: %s", (provider, model, cost) => {
  expect(at({ provider, model })).toBe(cost);
});

test.each([
  ["openai", "gpt-4.1-turbo"],
  ["openai", "gpt-4o-audio-preview"],
  ["openai", "o3-deep-research"],
  ["openai", "gpt-4"],
  ["openai", "claude-opus-4-5"],
  ["anthropic", "claude-opus-4-99"],
  ["huggingface", "meta-llama/Llama-3.3-70B-Instruct"],
  ["openai_compatible", "gpt-4.1"],
] as const)("what %s asks for %s is not known", (provider, model) => {
  expect(at({ provider, model })).toBeNull();
});

test("a vendor's prices hold at its own address, not at a gateway", () => {
  expect(at({ baseUrl: "https://api.openai.com/v1" })).toBe(0.0028);
  expect(at({ baseUrl: "https://gateway.example.com/v1" })).toBeNull();
  expect(at({ baseUrl: "http://api.openai.com.example.com/v1" })).toBeNull();
  expect(at({ provider: "azure", baseUrl: "https://mine.openai.azure.com" })).toBe(0.0028);
  const groq = { provider: "openai_compatible", model: "llama-3.1-8b-instant" } as const;
  expect(at({ ...groq, baseUrl: "https://api.groq.com/openai/v1" })).toBe(0.000058);
  expect(at({ ...groq, baseUrl: "http://localhost:11434/v1" })).toBeNull();
});

test("the key's own price counts first: the whole id before a date, that before a beginning", () => {
  const price = (model: string, input_per_million: number) => ({ model, input_per_million, output_per_million: 0 });
  const prices = [price("*", 1), price("gpt-4*", 2), price("gpt-4.1", 3), price("GPT-4.1-2025-04-14", 4)];
  const input = (model: string) => costOf(place({ model, prices }), MILLION);
  expect(input("gpt-4.1-2025-04-14")).toBe(4);
  expect(input("gpt-4.1-2025-05-01")).toBe(3);
  expect(input("gpt-4.1-mini")).toBe(2);
  expect(input("o3")).toBe(1);
  expect(costOf(place({ model: "o3", prices: prices.slice(1) }), MILLION)).toBe(10);
  expect(at({ provider: "openai_compatible", model: "openai/llama", baseUrl: "http://x/v1", prices: [price("openai/llama", 5)] })).toBe(
    0.005,
  );
});

test("what is free costs 0; where no tokens are told, anything else is not known", () => {
  const free = [{ model: "*", input_per_million: 0, output_per_million: 0 }];
  const none = { input_tokens: 0, output_tokens: 0 };
  expect(costOf(place({ prices: free }), none)).toBe(0);
  expect(costOf(place({}), none)).toBeNull();
  expect(costOf(place({}), { input_tokens: 0, output_tokens: 5 })).toBeNull();
});

test("a question longer than its price holds, or a price whose time is over, is not known", () => {
  const gemini = place({ provider: "gemini", model: "gemini-2.5-pro" });
  expect(costOf(gemini, { input_tokens: 200_000, output_tokens: 0 })).toBe(0.25);
  expect(costOf(gemini, { input_tokens: 200_001, output_tokens: 0 })).toBeNull();
  const flash = place({ provider: "gemini", model: "gemini-3.8-flash" });
  expect(costOf(flash, SOME, "2026-12-31")).toBe(0.001125);
  expect(costOf(flash, SOME, "2027-01-01")).toBeNull();
});

test("the list is dated and whole", () => {
  expect(priceList.as_of).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  expect(priceList.models.map(({ provider }) => provider)).toEqual(
    expect.arrayContaining(["anthropic", "openai", "gemini", "mistral", "huggingface", "azure", "openai_compatible"]),
  );
  const keys = priceList.models.map(({ provider, host, match }) => `${provider} ${host ?? ""} ${match.toLowerCase()}`);
  expect(new Set(keys).size).toBe(keys.length);
  for (const price of priceList.models) {
    expect(price.input_per_million, price.match).toBeGreaterThan(0);
    if (price.match.includes("embedding")) expect(price.output_per_million, price.match).toBe(0);
    else expect(price.output_per_million, price.match).toBeGreaterThanOrEqual(price.input_per_million);
    expect(price.source).toMatch(/^https:\/\//);
  }
});
