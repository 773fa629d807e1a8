import { type Answer, type ChatRequest, textOf } from "#e2e/fakes/chat-wire.ts";

/** How one request is answered. */
export type Script =
  | { kind: "answer"; answer: Answer; delayMs: number; isOnePiece?: boolean; gate?: string; gateAt?: number }
  | { kind: "status"; status: number }
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

function toolScript(name: string, request: ChatRequest): Script {
  const asked = request.messages.findLastIndex((message) => message.role === "user");
  const results = request.messages.slice(asked + 1).filter((message) => message.role === "tool");
  if (results.length) return text(`The tool said: ${results.map(textOf).join(" | ")}`);
  const tool = request.tools?.find((offered) => offered.function.name === name);
  if (!tool) return text(`No tool named ${name} was offered.`);
  return {
    kind: "answer",
    answer: { text: "", toolCall: { name, args: argumentsFor(tool.function.parameters, lastUserMessage(request)) } },
    delayMs: 0,
  };
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
  { pattern: /^status-(\d{3})$/, isForProbes: true, script: ([, status]) => ({ kind: "status", status: Number(status) }) },
  { pattern: /^garbage$/, isForProbes: true, script: () => ({ kind: "garbage" }) },
  { pattern: /^drop-mid-stream$/, isForProbes: false, script: () => ({ kind: "drop" }) },
  { pattern: /^hang$/, isForProbes: false, script: () => ({ kind: "hang" }) },
  { pattern: /^flaky-(\d+)$/, isForProbes: false, script: ([, failures]) => ({ kind: "flaky", failures: Number(failures) }) },
  { pattern: /^tool-(.+)$/, isForProbes: true, script: ([, name = ""], request) => toolScript(name, request) },
];

/**
 * What to do with a request. The model's name says it; a message with `[[<name>]]` in it, e.g. `[[status-500]] hello`,
 * overrides the name for this call. `late-<name>` (such as `late-status-401`) answers probes well and only then does as
 * `<name>`, so that an agent can be saved whose runs fail. Unknown names answer `Echo: <last user message>`.
 */
export function scriptFor(request: ChatRequest): Script {
  const directive = /\[\[([a-z][\w-]*)\]\]/.exec(lastUserMessage(request))?.[1];
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
