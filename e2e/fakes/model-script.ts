import { type Answer, type ChatRequest, type ToolCall, textOf } from "#e2e/fakes/chat-wire.ts";
import { askedSchema, jsonAnswer } from "#e2e/fakes/dialects.ts";
import { type Trouble, troubles } from "#e2e/fakes/vendor-errors.ts";

/** How one request is answered. */
export type Script =
  | { kind: "answer"; answer: Answer; delayMs: number; isOnePiece?: boolean; pieceLength?: number; gate?: string; gateAt?: number }
  | { kind: "status"; status: number; message?: string }
  | { kind: "trouble"; trouble: Trouble }
  | { kind: "garbage" }
  | { kind: "drop" }
  | { kind: "hang" }
  | { kind: "flaky"; failures: number };

/** The models that GET /v1/models lists; any other of the names below may be typed. */
export const LISTED_MODELS = ["echo", "parrot", "zero", "slow-20", "slow-200"];

/** A call that only asks whether key and model work: it wants next to nothing back. */
export const isProbe = (request: ChatRequest): boolean =>
  (request.max_completion_tokens ?? request.max_tokens ?? Number.POSITIVE_INFINITY) <= 32;

export const lastUserMessage = (request: ChatRequest): string => textOf(request.messages.findLast((message) => message.role === "user"));

const text = (value: string, delayMs = 0): Script => ({ kind: "answer", answer: { text: value }, delayMs });

const BRIEF =
  "Three things moved this week. A mill in Como restarted its Jacquard looms after forty years and sells every metre before it is " +
  "woven. The museum in Lyon put its punched-card archive online, 12,000 patterns, free to use. And a student in Kyoto wove a " +
  "working circuit from conductive silk: the cloth counts to eight.";

const words = (count: number): string => Array.from({ length: count }, (_, index) => `word${index + 1}`).join(" ");

/** Arguments for a tool: the user's message for every text, and something fitting for the rest of what it requires. */
function argumentsFor(parameters: Record<string, unknown> | undefined, message: string): Record<string, unknown> {
  const properties = (parameters?.properties ?? {}) as Record<string, { type?: string }>;
  const required = (parameters?.required as string[] | undefined) ?? Object.keys(properties);
  const fitting: Record<string, unknown> = { number: 1, integer: 1, boolean: true, array: [], object: {} };
  return Object.fromEntries(required.map((name) => [name, fitting[properties[name]?.type ?? ""] ?? message]));
}

/** The messages after the last question, which is where a round of tools is. */
function sinceQuestion(request: ChatRequest) {
  return request.messages.slice(request.messages.findLastIndex((message) => message.role === "user") + 1);
}

const toolResults = (request: ChatRequest): string[] =>
  sinceQuestion(request)
    .filter((message) => message.role === "tool")
    .map(textOf);

const calling = (toolCalls: ToolCall[], said = ""): Script => ({ kind: "answer", answer: { text: said, toolCalls }, delayMs: 0 });

/** Calls the tools once, side by side, then says what they answered; in JSON where a schema asks for it. */
function toolScript(names: string[], request: ChatRequest, said = ""): Script {
  const results = toolResults(request);
  if (results.length) {
    const answer = `The tool said: ${results.join(" | ")}`;
    return askedSchema(request) ? { kind: "answer", answer: jsonAnswer(request, answer), delayMs: 0 } : text(answer);
  }
  const offered = names.map((name) => request.tools?.find((tool) => tool.function.name === name));
  const missing = names.find((_, index) => !offered[index]);
  if (missing !== undefined) return text(`No tool named ${missing} was offered.`);
  const message = lastUserMessage(request);
  const args = (index: number) => argumentsFor(offered[index]?.function.parameters, names.length > 1 ? `${message} ${index + 1}` : message);
  return calling(
    names.map((name, index) => ({ name, args: args(index) })),
    said,
  );
}

/** Answers beside the schema until it was told so `times` times. */
function badJsonScript(request: ChatRequest, times: number): Script {
  const repairs = request.messages.filter(
    ({ role, content }) => role === "user" && String(content).includes("does not follow the JSON Schema"),
  );
  if (repairs.length >= times) return { kind: "answer", answer: jsonAnswer(request, lastUserMessage(request)), delayMs: 0 };
  return text('Here you are: {"wrong": true}');
}

/** By model name: the pattern, whether it also holds for a probe, and what it does. */
const RULES: { pattern: RegExp; isForProbes: boolean; script(match: string[], request: ChatRequest): Script }[] = [
  { pattern: /^zero$/, isForProbes: true, script: () => ({ kind: "answer", answer: { text: "ok" }, delayMs: 0, isOnePiece: true }) },
  { pattern: /^parrot$/, isForProbes: true, script: (_, request) => text(lastUserMessage(request)) },
  { pattern: /^slow-(\d+)(?:-(\d+))?$/, isForProbes: false, script: ([, ms, count]) => text(words(Number(count ?? 20)), Number(ms)) },
  {
    pattern: /^gate-(.+)$/,
    isForProbes: false,
    script: ([, gate = ""], request) => ({
      kind: "answer",
      answer: { text: `Waited at ${gate}: ${lastUserMessage(request)}` },
      delayMs: 0,
      gate,
    }),
  },
  {
    // As gate-<id>, with an answer that looks like one, for pictures.
    pattern: /^brief-(.+)$/,
    isForProbes: false,
    script: ([, gate = ""]) => ({ kind: "answer", answer: { text: BRIEF }, delayMs: 0, gate, gateAt: 34 }),
  },
  // Streams its echo in pieces of so many characters, so many milliseconds apart.
  {
    pattern: /^crumbs-(\d+)-(\d+)$/,
    isForProbes: false,
    script: ([, length, ms], request) => ({
      kind: "answer",
      answer: { text: `Echo: ${lastUserMessage(request)}` },
      delayMs: Number(ms),
      pieceLength: Number(length),
    }),
  },
  // Says the question again and again, whatever it is told afterwards.
  {
    pattern: /^stubborn$/,
    isForProbes: false,
    script: (_, request) => text(textOf(request.messages.find((message) => message.role === "user"))),
  },
  // Refuses, and quotes what it was asked.
  {
    pattern: /^quote-(\d{3})$/,
    isForProbes: false,
    script: ([, status], request) => ({ kind: "status", status: Number(status), message: `Refused: ${lastUserMessage(request)}` }),
  },
  { pattern: /^status-(\d{3})$/, isForProbes: true, script: ([, status]) => ({ kind: "status", status: Number(status) }) },
  // Fails in the words of the vendor whose dialect is spoken; `no-tools` only when tools are offered.
  {
    pattern: new RegExp(`^trouble-(${troubles.join("|")})$`),
    isForProbes: true,
    script: ([, name], request) =>
      name === "no-tools" && !request.tools?.length
        ? text(`Echo: ${lastUserMessage(request)}`)
        : { kind: "trouble", trouble: name as Trouble },
  },
  { pattern: /^garbage$/, isForProbes: true, script: () => ({ kind: "garbage" }) },
  { pattern: /^drop-mid-stream$/, isForProbes: false, script: () => ({ kind: "drop" }) },
  { pattern: /^hang$/, isForProbes: false, script: () => ({ kind: "hang" }) },
  { pattern: /^flaky-(\d+)$/, isForProbes: false, script: ([, failures]) => ({ kind: "flaky", failures: Number(failures) }) },
  // After the tools have answered, the line drops, or nothing comes any more, or the provider has an error.
  {
    pattern: /^tool-then-(drop|hang|\d{3})-(.+)$/,
    isForProbes: false,
    script: ([, end = "", name = ""], request) =>
      toolResults(request).length
        ? end === "drop" || end === "hang"
          ? { kind: end }
          : { kind: "status", status: Number(end) }
        : toolScript([name], request),
  },
  { pattern: /^tools?-(.+)$/, isForProbes: false, script: ([, names = ""], request) => toolScript(names.split("."), request) },
  // Says something before it calls the tool.
  { pattern: /^say-tool-(.+)$/, isForProbes: false, script: ([, name = ""], request) => toolScript([name], request, "Let me look.") },
  // Never has enough.
  {
    pattern: /^again-(.+)$/,
    isForProbes: false,
    script: ([, name = ""], request) => calling([{ name, args: { query: lastUserMessage(request) } }]),
  },
  {
    pattern: /^unknown-tool$/,
    isForProbes: false,
    script: (_, request) => (toolResults(request).length ? toolScript([], request) : calling([{ name: "no_such_tool", args: {} }])),
  },
  {
    pattern: /^bad-args-(.+)$/,
    isForProbes: false,
    script: ([, name = ""], request) =>
      toolResults(request).length ? toolScript([], request) : calling([{ name, args: {}, rawArgs: '{"query": "cut o' }]),
  },
  {
    pattern: /^json$/,
    isForProbes: false,
    script: (_, request) => ({ kind: "answer", answer: jsonAnswer(request, lastUserMessage(request)), delayMs: 0 }),
  },
  {
    pattern: /^fenced-json$/,
    isForProbes: false,
    script: (_, request) => text(`Sure:\n\`\`\`json\n${jsonAnswer(request, lastUserMessage(request)).text}\n\`\`\`\nDone.`),
  },
  { pattern: /^bad-json-(\d)$/, isForProbes: false, script: ([, times], request) => badJsonScript(request, Number(times)) },
  {
    pattern: /^cut-json$/,
    isForProbes: false,
    script: () => ({ kind: "answer", answer: { text: '{"answer": "half', isCut: true }, delayMs: 0 }),
  },
  // A model without tools: as local servers say it.
  {
    pattern: /^no-tools$/,
    isForProbes: true,
    script: (_, request) =>
      request.tools?.length
        ? { kind: "status", status: 400, message: "registry.local/library/no-tools:latest does not support tools" }
        : text(`Echo: ${lastUserMessage(request)}`),
  },
  {
    pattern: /^overflow$/,
    isForProbes: false,
    script: () => ({
      kind: "status",
      status: 400,
      message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
    }),
  },
];

/**
 * What to do with a request. The model's name says it; a message with `[[<name>]]` in it, e.g. `[[status-500]] hello`,
 * overrides the name for this call. `late-<name>` (such as `late-status-401`) answers probes well and only then does as
 * `<name>`, so that an agent can be saved whose runs fail. Unknown names answer `Echo: <last user message>`.
 */
export function scriptFor(request: ChatRequest): Script {
  const directive = /\[\[([a-z][\w.-]*)\]\]/.exec(lastUserMessage(request))?.[1];
  const isLate = request.model.startsWith("late-");
  const name = directive ?? request.model.replace(/^late-/, "");
  for (const rule of RULES) {
    const match = rule.pattern.exec(name);
    if (!match) continue;
    if (!directive && isProbe(request) && (isLate || !rule.isForProbes)) break;
    return rule.script([...match], request);
  }
  return text(`Echo: ${lastUserMessage(request)}`);
}
