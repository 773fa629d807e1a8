import { costOf, type PricedPlace, type TokenCount } from "#server/llm/cost.ts";
import type { CallUsage } from "#server/runs/executor/call-usage.ts";

/** Adds up what one call of an agent uses, answer by answer of its model, at the prices of now. */
export class CallMeter {
  readonly #agent_id: string;
  readonly #place: PricedPlace;
  #input = 0;
  #cached = 0;
  #output = 0;
  #cost: number | null = 0;
  #answers = 0;

  constructor(agent_id: string, place: PricedPlace) {
    this.#agent_id = agent_id;
    this.#place = place;
  }

  readonly add = (used: TokenCount): void => {
    this.#answers += 1;
    this.#input += used.input_tokens;
    this.#cached += used.cached_tokens ?? 0;
    this.#output += used.output_tokens;
    const cost = costOf(this.#place, used);
    this.#cost = this.#cost === null || cost === null ? null : Number((this.#cost + cost).toFixed(12));
  };

  /** What was used; undefined before the model has answered once. The cost is null as soon as that of one answer is not known. */
  get usage(): Omit<CallUsage, "tool_calls"> | undefined {
    if (this.#answers === 0) return undefined;
    const { provider, model } = this.#place;
    const tokens = { input_tokens: this.#input, cached_tokens: this.#cached, output_tokens: this.#output };
    return { agent_id: this.#agent_id, provider, model, ...tokens, cost: this.#cost };
  }
}
