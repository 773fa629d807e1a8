import type { CallUsage } from "#server/engine/call-usage.ts";
import { costOf, type PricedPlace, type TokenCount } from "#server/providers/cost.ts";

/** Adds up what one call of an agent uses, answer by answer of its model, at the prices of now. */
export class CallMeter {
  readonly #agent_id: string;
  readonly #place: PricedPlace;
  #input = 0;
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
    this.#output += used.output_tokens;
    const cost = costOf(this.#place, used);
    this.#cost = this.#cost === null || cost === null ? null : Number((this.#cost + cost).toFixed(12));
  };

  /** What was used; undefined before the model has answered once. The cost is null as soon as that of one answer is not known. */
  get usage(): CallUsage | undefined {
    if (this.#answers === 0) return undefined;
    const { provider, model } = this.#place;
    return { agent_id: this.#agent_id, provider, model, input_tokens: this.#input, output_tokens: this.#output, cost: this.#cost };
  }
}
