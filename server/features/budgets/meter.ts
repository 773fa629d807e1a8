import { type Hold, hold, type Payer } from "#server/features/budgets/holds.ts";
import { holdForMessage, TOKENS_PER_DOLLAR } from "#server/features/budgets/message-allowance.ts";
import { OverBudget } from "#server/features/budgets/over-budget.ts";
import { spendingOf } from "#server/features/budgets/spending.ts";
import type { EndOfCall, Meter } from "#server/llm/chat-loop.ts";
import { costOf, type PricedPlace, type TokenCount } from "#server/llm/cost.ts";

/** Characters of a token, about. */
const CHARACTERS = 4;
/** Tokens that an answer is taken to have: how long it may be says little of how long it is. */
const USUAL_ANSWER = 1000;

type Question = Parameters<Meter["begin"]>[0];

/** Estimate of a call: its tokens, and its cost in US dollars; null when the price is not known. */
interface Estimate {
  tokens: number;
  cost: number | null;
}
const NOTHING: Estimate = { tokens: 0, cost: 0 };

/**
 * Estimates a question, or the part of its answer that came.
 * @param heard characters of the answer that have come
 */
function estimate(place: PricedPlace, { messages, max_tokens }: Question, heard = 0): Estimate {
  const characters = messages.reduce((sum, { content }) => sum + content.length, 0);
  const input_tokens = Math.max(1, Math.ceil(characters / CHARACTERS));
  const answer = Math.min(max_tokens ?? USUAL_ANSWER, USUAL_ANSWER);
  const output_tokens = Math.max(answer, Math.ceil(heard / CHARACTERS));
  return { tokens: input_tokens + output_tokens, cost: costOf(place, { input_tokens, output_tokens }) };
}

/** Returns what a call counts as toward the limit of a message. */
const inMessage = ({ tokens, cost }: Estimate): number => cost ?? tokens / TOKENS_PER_DOLLAR;

/** What one answer used and cost; null when the price is not known. */
export type Used = TokenCount & { cost: number | null };

/**
 * Stands around the calls of a model that somebody pays for: each is refused when a budget is used up, and counted in it. Every call
 * of a chat or an embedding model goes through one, but the tiny one that tries a key.
 */
export class PaidMeter implements Meter {
  readonly #payer: Payer;
  readonly #place: PricedPlace;
  readonly #listen: (used: Used) => void;

  /** @param listen told of each answer, before anything is made of it */
  constructor(payer: Payer, place: Omit<PricedPlace, "projectPrices">, listen: (used: Used) => void) {
    this.#payer = payer;
    this.#place = place;
    this.#listen = listen;
  }

  /** @throws OverBudget; MessageLimitReached */
  readonly begin = async (question: Question): Promise<EndOfCall> => {
    const { project_id, message_id } = this.#payer;
    const { prices, hasBudgets } = await spendingOf(project_id);
    const place = { ...this.#place, projectPrices: prices.filter(({ provider }) => provider === this.#place.provider) };
    const expected = estimate(place, question);
    const fromMessage = message_id ? await holdForMessage(message_id, inMessage(expected)) : undefined;
    const held = hasBudgets ? await this.#hold(expected, question).catch(release(fromMessage)) : undefined;
    return async (used, heard) => {
      if (!used) {
        const partial = heard === undefined ? NOTHING : estimate(place, question, heard);
        await held?.settle(partial.cost ?? 0);
        await fromMessage?.settle(inMessage(partial));
        return;
      }
      const cost = costOf(place, used);
      this.#listen({ ...used, cost });
      // Of a service that does not tell tokens, or not of as many, the estimate stands; without any price that is nothing.
      await held?.settle(cost ?? expected.cost ?? 0);
      await fromMessage?.settle(inMessage({ tokens: used.input_tokens + used.output_tokens || expected.tokens, cost }));
    };
  };

  async #hold({ cost }: Estimate, question: Question) {
    // What is known to be free may always be asked.
    if (cost === 0) return undefined;
    const now = new Date();
    const held = await hold(this.#payer, cost ?? 0, now);
    if (Array.isArray(held)) throw new OverBudget(held, this.#payer, question.messages, now);
    return held;
  }
}

/** Gives a hold back when a later one is refused. */
const release = (held: Hold | undefined) => async (error: unknown) => {
  await held?.settle(0);
  throw error;
};
