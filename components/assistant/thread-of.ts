import type {
  Attached,
  CardDetail,
  FailureCode,
  MessageContext,
  MessageMode,
  ProposalStatus,
  ThreadEvent,
  ToolRefs,
} from "#server/features/assistant/schema.ts";

type EventOf<Type extends ThreadEvent["type"]> = Extract<ThreadEvent, { type: Type }>;

/** One use of a tool. */
export interface ToolPart {
  kind: "tool";
  id: string;
  name: string;
  args: Record<string, unknown>;
  /** null while there is none. */
  answer: { ok: boolean; summary: string; refs: ToolRefs } | null;
}

export interface ProposalPart {
  kind: "proposal";
  id: string;
  workflow_id: string;
  summary: string;
  /** "replaced": by a newer one of the thread, which came before anybody had decided. */
  status: ProposalStatus | "replaced";
  problems: EventOf<"proposal">["problems"];
}

/** How a question or a confirmation ended; null while it waits. */
type Ending = { outcome: "answered" | "approved" | "rejected"; answer?: string | undefined } | null;

export interface QuestionPart {
  kind: "question";
  id: string;
  text: string;
  options: string[];
  form: EventOf<"question">["form"];
  ending: Ending;
}

export interface ConfirmationPart {
  kind: "confirmation";
  id: string;
  action: string;
  summary: string;
  details: CardDetail[];
  ending: Ending;
}

/** A part of an answer, in the order in which it came. */
export type Part = { kind: "text"; text: string } | ToolPart | ProposalPart | QuestionPart | ConfirmationPart;

/** What a person wrote, and all that the assistant said and did about it. */
export interface Turn {
  id: string;
  content: string;
  mode: MessageMode;
  context: MessageContext;
  attached: Attached[];
  created_at: string;
  parts: Part[];
  /** "taken_back": stopped before anybody had begun with it. */
  status: "queued" | "working" | "waiting" | "done" | "failed" | "stopped" | "taken_back";
  /** Why it failed. */
  error: string | null;
  code: FailureCode | null;
  /** Counted so far; null before the first answer of the model. */
  usage: { input_tokens: number; output_tokens: number; cost: number | null } | null;
}

/** A thread as it is drawn. */
export interface ThreadState {
  turns: Turn[];
  /** Number of the last event. */
  seq: number;
  /** What the last event has rejected; null where that is another event. */
  rejected: string | null;
}

export const EMPTY_THREAD: ThreadState = { turns: [], seq: 0, rejected: null };

/** The thread that its events tell, from the first one on. */
export const threadOf = (events: readonly { seq: number; event: ThreadEvent }[], before = EMPTY_THREAD): ThreadState =>
  events.reduce((state, { seq, event }) => {
    if (seq <= state.seq) return state;
    const turns = turnsAfter(event.type === "proposal" ? withReplaced(state, event.workflow_id) : state.turns, event);
    return { turns, seq, rejected: event.type === "decided" && event.outcome === "rejected" ? event.id : null };
  }, before);

/** A proposal that was rejected just before another came for the same workflow is one that nobody has rejected. */
function withReplaced({ turns, rejected }: ThreadState, workflow_id: string): Turn[] {
  if (rejected === null) return turns;
  const replaced = (part: Part): Part =>
    part.kind === "proposal" && part.id === rejected && part.workflow_id === workflow_id ? { ...part, status: "replaced" } : part;
  return turns.map((turn) => {
    const parts = turn.parts.map(replaced);
    return parts.some((part, index) => part !== turn.parts[index]) ? { ...turn, parts } : turn;
  });
}

function turnsAfter(turns: Turn[], event: ThreadEvent): Turn[] {
  if (event.type === "message") {
    const { type: _, message_id: id, ...said } = event;
    return [...turns, { id, ...said, parts: [], status: "queued", error: null, code: null, usage: null }];
  }
  return turns.map((turn) => {
    if (event.type === "decided") return turn.parts.some((part) => "id" in part && part.id === event.id) ? decided(turn, event) : turn;
    return turn.id === event.message_id ? turnAfter(turn, event) : turn;
  });
}

const isText = (part: Part | undefined) => part?.kind === "text";

function turnAfter(turn: Turn, event: Exclude<ThreadEvent, { type: "message" | "decided" }>): Turn {
  const { parts } = turn;
  const and = (part: Part): Turn => ({ ...turn, parts: [...parts, part] });
  switch (event.type) {
    case "message_started":
      return { ...turn, status: "working" };
    case "text_delta": {
      const last = parts.at(-1);
      if (last?.kind !== "text") return and({ kind: "text", text: event.text });
      return { ...turn, parts: [...parts.slice(0, -1), { kind: "text", text: last.text + event.text }] };
    }
    case "text_reset":
      return isText(parts.at(-1)) ? { ...turn, parts: parts.slice(0, -1) } : turn;
    case "tool_call":
      return and({ kind: "tool", id: event.id, name: event.name, args: event.arguments, answer: null });
    case "tool_result": {
      // Ids are unique in one round only, so the latest call without an answer is the one that is meant.
      const at = parts.findLastIndex((part) => part.kind === "tool" && part.id === event.id && part.answer === null);
      const answer = { ok: event.ok, summary: event.summary, refs: event.refs ?? {} };
      return { ...turn, parts: parts.map((part, index) => (index === at && part.kind === "tool" ? { ...part, answer } : part)) };
    }
    case "proposal": {
      const { type: _, message_id: __, ...proposal } = event;
      return { ...turn, parts: [...parts.filter((part) => !("id" in part) || part.id !== proposal.id), { kind: "proposal", ...proposal }] };
    }
    case "question":
      return {
        ...and({ kind: "question", id: event.id, text: event.text, options: event.options, form: event.form, ending: null }),
        status: "waiting",
      };
    case "confirmation": {
      const { id, action, summary, details } = event;
      // Before the call that waits for it: what comes of that comes after the decision.
      const at = parts.findLastIndex((part) => part.kind === "tool" && part.answer === null);
      const card: Part = { kind: "confirmation", id, action, summary, details, ending: null };
      return { ...turn, parts: parts.toSpliced(at === -1 ? parts.length : at, 0, card), status: "waiting" };
    }
    case "usage":
      return { ...turn, usage: { input_tokens: event.input_tokens, output_tokens: event.output_tokens, cost: event.cost } };
    case "message_done":
      return { ...turn, status: "done" };
    case "message_failed":
      if (event.stopped) return { ...turn, status: turn.status === "queued" ? "taken_back" : "stopped" };
      return { ...turn, status: "failed", error: event.error, code: event.code };
  }
}

const isOpen = (part: Part): boolean => (part.kind === "question" || part.kind === "confirmation") && part.ending === null;

function decided(turn: Turn, { id, outcome, answer }: EventOf<"decided">): Turn {
  const parts = turn.parts.map((part): Part => {
    if (!("id" in part) || part.id !== id) return part;
    if (part.kind === "proposal") return outcome === "answered" || outcome === "approved" ? part : { ...part, status: outcome };
    if (part.kind === "tool" || outcome === "accepted" || outcome === "conflict") return part;
    return { ...part, ending: { outcome, answer } };
  });
  return { ...turn, parts, status: turn.status === "waiting" && !parts.some(isOpen) ? "working" : turn.status };
}

/** The question that the work waits for, if it waits for one. */
export const openQuestion = (turns: readonly Turn[]): QuestionPart | undefined =>
  turns
    .find(({ status }) => status === "waiting")
    ?.parts.find((part): part is QuestionPart => part.kind === "question" && part.ending === null);

/** Whether the assistant has this message still to do, or is doing it. */
export const isAtWork = ({ status }: Turn): boolean => status === "queued" || status === "working";

/** The same, or it waits for an answer. */
export const isUnderWay = (turn: Turn): boolean => isAtWork(turn) || turn.status === "waiting";

const WORDS: Readonly<Record<string, string>> = {
  create_workflow: "Building…",
  propose_changes: "Building…",
  create_agent: "Building…",
  update_agent: "Building…",
  run_workflow: "Running…",
  rerun_from_node: "Running…",
  get_run: "Checking…",
  get_run_log: "Checking…",
  list_runs: "Checking…",
};

/** What the assistant is doing, in a word; none while its own words arrive, null when it does nothing. */
export function progressOf({ status, parts, mode }: Turn): string | null {
  if (status !== "working") return null;
  const last = parts.at(-1);
  if (last?.kind === "text") return "";
  if (last?.kind === "tool" && last.answer === null) return WORDS[last.name] ?? "Looking…";
  return parts.length === 0 && mode === "build" ? "Planning…" : "Thinking…";
}

/** All that the assistant said in words. */
export const textOf = ({ parts }: Turn): string => parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n\n");
