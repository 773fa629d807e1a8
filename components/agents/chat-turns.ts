import { citedIn } from "#components/runs/sources.tsx";
import type { ChatEvent } from "#server/features/agents/schema.ts";
import type { ToolSource } from "#server/runs/tool-call-schema.ts";

type ToolAnswer = Omit<Extract<ChatEvent, { type: "tool_result" }>, "type" | "id" | "name">;

/** A part of an answer, in the order in which it came: text, or one use of a tool. */
export type ChatPart =
  | { kind: "text"; text: string }
  | { kind: "tool"; id: string; name: string; args: Record<string, unknown>; answer: ToolAnswer | null };

/** One message and what came of it. */
export interface Exchange {
  id: number;
  message: string;
  /** Whether it was asked of what stood in the form, and not of the published version. */
  isDraft: boolean;
  parts: ChatPart[];
  state: "running" | "done" | "failed" | "stopped";
  /** Why it failed. */
  detail: string | null;
  input_tokens: number;
  output_tokens: number;
  /** US dollars; null when the price is not known. */
  cost: number | null;
  tookMs: number | null;
  /** Whether the answer ended at the limit of its length. */
  isCut: boolean;
  /** The version that answered, once that is told; null of what is not published. */
  agent_version: number | null;
}

export const newExchange = (id: number, message: string, isDraft = false): Exchange => ({
  id,
  message,
  isDraft,
  parts: [],
  state: "running",
  detail: null,
  input_tokens: 0,
  output_tokens: 0,
  cost: 0,
  tookMs: null,
  isCut: false,
  agent_version: null,
});

/** The exchange after one more event. */
export function applyChatEvent(exchange: Exchange, event: ChatEvent): Exchange {
  const { parts } = exchange;
  switch (event.type) {
    case "delta": {
      const last = parts.at(-1);
      if (last?.kind !== "text") return { ...exchange, parts: [...parts, { kind: "text", text: event.content }] };
      return { ...exchange, parts: [...parts.slice(0, -1), { kind: "text", text: last.text + event.content }] };
    }
    case "tool_call":
      return { ...exchange, parts: [...parts, { kind: "tool", id: event.id, name: event.name, args: event.args, answer: null }] };
    case "tool_result": {
      const { type: _, id, name: __, ...answer } = event;
      // Ids are unique in one round only, so the latest call without an answer is the one that is meant.
      const at = parts.findLastIndex((part) => part.kind === "tool" && part.id === id && part.answer === null);
      return { ...exchange, parts: parts.map((part, index) => (index === at ? { ...part, answer } : part)) };
    }
    case "done":
      return {
        ...exchange,
        state: "done",
        input_tokens: event.input_tokens,
        output_tokens: event.output_tokens,
        cost: event.cost,
        isCut: event.truncated === true,
        agent_version: event.agent_version,
      };
    case "error":
      return { ...exchange, state: "failed", detail: event.detail };
  }
}

/** Everything that the agent said in words. */
export const textOf = ({ parts }: Exchange): string => parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n\n");

/** What is sent along as earlier turns: exchanges that ended well. */
export const historyOf = (exchanges: readonly Exchange[]): ChatTurn[] =>
  exchanges
    .filter(({ state }) => state === "done")
    .flatMap((exchange) => [
      { role: "user", content: exchange.message },
      { role: "assistant", content: textOf(exchange) },
    ]);

/** The pieces of knowledge and the pages that an answer cites. */
export const citationsOf = (exchange: Exchange): ToolSource[] =>
  citedIn(
    textOf(exchange),
    exchange.parts.flatMap((part) => (part.kind === "tool" ? (part.answer?.sources ?? []) : [])),
  );

export interface ChatTurn {
  role: "user" | "assistant";
  content: string;
}
