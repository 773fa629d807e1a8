import { type ChatMessage, type ChatRequest, type ToolCall, textOf } from "#e2e/fakes/chat-wire.ts";
import { isProbe, type Script, scriptFor } from "#e2e/fakes/model-script.ts";

/** One answer of the model `script-<id>`, as a test has written it. */
export interface ScriptStep {
  /** Only about a question that holds this text; left out, about any. */
  when?: string;
  /** What it says, before its calls if it has any. */
  say?: string;
  /**
   * Tools that it calls side by side. In arguments, `{{<tool>.<path>}}` stands for what the last result of that tool has there.
   * "as told": whatever the newest message tells it to, as `call <tool> {"its": "arguments"}`.
   */
  calls?: { name: string; args?: Record<string, unknown>; rawArgs?: string }[] | "as told";
  /** Answers as the model of this name does instead, such as `hang` or `status-500`. */
  as?: string;
  /** Stops after its second word, until the test releases this gate. */
  gate?: string;
  /** Between its words, in milliseconds. */
  delayMs?: number;
}

/** What each tool answered last, by its name; JSON where there is some. */
function resultsOf({ messages }: ChatRequest): Record<string, unknown> {
  const names = new Map(
    messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id, function: { name } }): [string, string] => [id, name])),
  );
  const results: Record<string, unknown> = {};
  for (const message of messages) {
    const name = message.role === "tool" ? names.get(message.tool_call_id ?? "") : undefined;
    if (name !== undefined) results[name] = readJson(textOf(message));
  }
  return results;
}

/** The JSON in a text, which may begin with words of others. */
function readJson(text: string): unknown {
  for (const { index } of text.matchAll(/^(?=[[{"])/gm)) {
    try {
      return JSON.parse(text.slice(index));
    } catch {
      // The next one may do.
    }
  }
  return text;
}

const REFERENCE = /\{\{(\w+)((?:\.\w+)*)\}\}/g;

/** The same value with references in its texts replaced; a text that is one reference becomes what is there. */
function filled(value: unknown, results: Record<string, unknown>): unknown {
  const read = (name: string, path: string) =>
    path
      .split(".")
      .filter(Boolean)
      .reduce<unknown>((at, key) => Reflect.get(Object(at), key), results[name]);
  // Expressions of workflows are written in the same way.
  const isTold = (name: string) => Object.hasOwn(results, name);
  if (typeof value === "string") {
    const whole = new RegExp(`^${REFERENCE.source}$`).exec(value);
    if (whole && isTold(whole[1] ?? "")) return read(whole[1] ?? "", whole[2] ?? "");
    return value.replace(REFERENCE, (text, name: string, path: string) => (isTold(name) ? String(read(name, path)) : text));
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => filled(one, results));
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one, results)]));
}

/** The calls that a text tells whoever believes it to make. */
function toldIn(message: ChatMessage | undefined): ToolCall[] {
  const told = textOf(message).replaceAll('\\"', '"');
  return [...told.matchAll(/\bcall (\w+) (?=\{)/g)].flatMap(({ 0: before, 1: name = "", index }) => {
    const args = told.slice(index + before.length);
    // Up to the first brace that makes it whole.
    for (const { index: end } of args.matchAll(/\}/g)) {
      try {
        return [{ name, args: JSON.parse(args.slice(0, end + 1)) }];
      } catch {
        // The next one may do.
      }
    }
    return [];
  });
}

/** What a scripted model answers: the step after as many as it has answered since the question; at their end "Done." */
export function stepFor(steps: readonly ScriptStep[], request: ChatRequest): Script {
  if (isProbe(request)) return { kind: "answer", answer: { text: "ok" }, delayMs: 0, isOnePiece: true };
  const at = request.messages.findLastIndex(({ role }) => role === "user");
  const question = textOf(request.messages[at]);
  const said = request.messages.slice(at + 1).filter(({ role }) => role === "assistant").length;
  const step = steps.filter(({ when }) => when === undefined || question.includes(when))[said] ?? { say: "Done." };
  if (step.as !== undefined) return scriptFor({ ...request, model: step.as });
  const results = resultsOf(request);
  const calls =
    step.calls === "as told"
      ? toldIn(request.messages.at(-1))
      : step.calls?.map(({ args = {}, ...call }) => ({ ...call, args: filled(args, results) as ToolCall["args"] }));
  const text = String(filled(step.say ?? (calls?.length ? "" : "Done."), results));
  return {
    kind: "answer",
    answer: { text, ...(calls?.length && { toolCalls: calls }) },
    delayMs: step.delayMs ?? 0,
    ...(step.gate !== undefined && { gate: step.gate }),
  };
}
