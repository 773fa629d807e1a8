import type { Reading } from "#server/features/workflow-files/n8n/javascript.ts";
import {
  at,
  base,
  isRecord,
  type Json,
  langchain,
  listOf,
  numberIn,
  type SourceNode,
  wordOf,
} from "#server/features/workflow-files/n8n/source.ts";
import { after, type Kind, outputOf, type Step } from "#server/features/workflow-files/n8n/step.ts";
import { FileAgent } from "#server/features/workflow-files/schema.ts";
import type { PathPart } from "#server/workflow/expressions.ts";

// Nodes of n8n that ask a model, and what hangs on them, as agents: their definition travels in the file as one of ours would.

/** Kinds of LLM keys by n8n's nodes for models. */
const PROVIDERS: ReadonlyMap<string, FileAgent["provider"]> = new Map<string, FileAgent["provider"]>([
  ["lmChatOpenAi", "openai"],
  ["openAi", "openai"],
  ["lmChatAnthropic", "anthropic"],
  ["anthropic", "anthropic"],
  ["lmChatGoogleGemini", "gemini"],
  ["googleGemini", "gemini"],
  ["lmChatMistralCloud", "mistral"],
  ["lmChatAzureOpenAi", "azure"],
  ...["lmChatOllama", "lmOllama", "lmChatOpenRouter", "lmChatGroq", "lmChatDeepSeek", "lmChatXAiGrok"].map(
    (name) => [name, "openai_compatible"] as const,
  ),
]);

/** Tools that an agent here brings along. */
const SEARCHES = /\.tool(?:SerpApi|SearXng|Wikipedia)$/;

const shortType = (type: string): string => type.split(".").at(-1) ?? type;

/** True for a model: what it says is in the agent, and nothing of it is left. */
export const isModel = ({ type }: SourceNode): boolean => type.startsWith(langchain("")) && /^lm(?:Chat)?[A-Z]/.test(shortType(type));

const EXTRACTOR = langchain("informationExtractor");
const roots: readonly string[] = [...["agent", "chainLlm", "openAi", "anthropic", "googleGemini"].map(langchain), EXTRACTOR];
/** What these do besides answering: pictures, files, speech. */
const isText = ({ parameters: p }: SourceNode) =>
  ["text", "chat"].includes(wordOf(at(p, "resource"), "text")) &&
  ["message", "complete", "chat", "response"].includes(wordOf(at(p, "operation"), "message"));

/** True for a node that asks a model for a text. */
export const asksModel = (source: SourceNode): boolean => (roots.includes(source.type) || source.type === base("openAi")) && isText(source);

const TYPES: Readonly<Record<string, string>> = { number: "number", boolean: "boolean" };

/** The fields that an Information Extractor is to find, as the form of the agent's answer; null for any other node. */
function answerOf({ type, parameters: p }: SourceNode): Json | null {
  const wanted =
    type === EXTRACTOR
      ? listOf(at(p, "attributes", "attributes"))
          .filter(isRecord)
          .slice(0, 100)
      : [];
  if (wanted.length === 0) return null;
  const fields = wanted.map((one) => {
    const kind = wordOf(at(one, "type"));
    const schema = { type: Object.hasOwn(TYPES, kind) ? TYPES[kind] : "string", description: wordOf(at(one, "description")).slice(0, 500) };
    return [wordOf(at(one, "name"), "value").slice(0, 100), schema] as const;
  });
  const required = wanted.filter((one) => at(one, "required") === true).map((one) => wordOf(at(one, "name"), "value").slice(0, 100));
  return { type: "object", properties: Object.fromEntries(fields), required: [...new Set(required)] };
}

interface Message {
  role: string;
  content: unknown;
}

/** The messages of a node in the order in which they are sent, whatever its version calls them. */
function messagesOf({ type, parameters: p }: SourceNode): Message[] {
  const lists = [
    at(p, "messages", "values"),
    at(p, "responses", "values"),
    at(p, "messages", "messageValues"),
    at(p, "prompt", "messages"),
  ];
  const isChain = type === langchain("chainLlm");
  const rows = lists.flatMap(listOf).filter(isRecord).slice(0, 50);
  const listed = rows.map((row) => ({
    role: /system/i.test(wordOf(at(row, "type"), wordOf(at(row, "role"), isChain ? "system" : "user"))) ? "system" : "user",
    content: at(row, "content") ?? at(row, "message"),
  }));
  const system = at(p, "options", "systemMessage") ?? at(p, "options", "systemPromptTemplate");
  const own = at(p, "text") ?? (typeof at(p, "prompt") === "string" ? at(p, "prompt") : undefined);
  const isGiven = at(p, "promptType") !== "auto" && own !== undefined && own !== "";
  return [
    ...(system === undefined ? [] : [{ role: "system", content: system }]),
    ...listed,
    ...(isGiven ? [{ role: "user", content: own }] : []),
  ];
}

function modelOf(parts: readonly SourceNode[], source: SourceNode): SourceNode {
  return parts.find(isModel) ?? source;
}

const bounded = (value: unknown, least: number, most: number): number | null => {
  const number = numberIn(value);
  return number >= least && number <= most ? number : null;
};

function nameOfModel({ parameters: p }: SourceNode): string {
  const chosen = [at(p, "modelId"), at(p, "model"), at(p, "modelName"), at(p, "chatModel")].map((model) =>
    wordOf(at(model, "value"), wordOf(model)),
  );
  return (chosen.find((name) => name !== "" && !name.startsWith("=")) ?? "").replace(/^models\//, "").slice(0, 200);
}

/** The agent that a node asks, and how the node asks it. */
export function agentOf(step: Step, key: string, workflow: string): { definition: FileAgent; data: Json } {
  const { source, parts, label } = step;
  const model = modelOf(parts, source);
  const options = at(model.parameters, "options");
  const messages = messagesOf(source);
  const isFixed = ({ content }: Message) => typeof content === "string" && !(content.startsWith("=") && content.includes("{{"));
  const system = messages
    .filter((message) => message.role === "system" && isFixed(message))
    .map(({ content }) => wordOf(content).replace(/^=/, ""));
  // A prompt of an agent stays as it is; what is filled in at each run comes with the question.
  const input = messages
    .filter((message) => message.role !== "system" || !isFixed(message))
    .map(({ content }) => step.text(content, "input"));
  const tools = parts.filter(({ type }) => SEARCHES.test(type));
  const others = parts.filter((part) => !isModel(part) && !tools.includes(part));
  for (const part of others)
    step.toDo(`Its “${part.name.slice(0, 120)}” (${shortType(part.type).slice(0, 60)}) is only a note: ${advice(part.type)}`, "agent_id");
  const definition = {
    key,
    name: `${label.slice(0, 70)} (${workflow.replace(/[{}]/g, "").slice(0, 40).trim()})`.toWellFormed(),
    provider: PROVIDERS.get(shortType(model.type)) ?? null,
    model: nameOfModel(model),
    system_prompt: system.join("\n\n").slice(0, 100_000).toWellFormed(),
    temperature: bounded(at(options, "temperature"), 0, 2),
    max_tokens: bounded(at(options, "maxTokens") ?? at(options, "maxTokensToSample") ?? at(options, "maxOutputTokens"), 1, 1_000_000),
    tools: tools.length ? ["web_search"] : [],
    output_schema: answerOf(source),
  };
  const { retries } = source;
  return {
    definition: FileAgent.parse({
      ...definition,
      ...(definition.max_tokens !== null && { max_tokens: Math.floor(definition.max_tokens) }),
    }),
    data: { agent_id: key, input: input.join("\n\n"), ...(retries !== undefined && { retries }) },
  };
}

function advice(type: string): string {
  if (/memory/i.test(type)) return "an agent here answers each question by itself. Give it what was said before in its input.";
  if (/outputParser/i.test(type)) return "write the form of the answer into the agent’s output schema.";
  if (/mcp/i.test(type)) return "link the MCP server to the agent.";
  if (/vectorStore|retriever|embeddings|document/i.test(type)) return "add the documents to Knowledge, and the source to the agent.";
  return "an agent here has web search, a page reader, MCP servers and Knowledge. Or put an HTTP node before it.";
}

/** Where n8n keeps what a model answered, in the order in which it is looked for. */
const ANSWERS: readonly (readonly PathPart[])[] = [
  ["output", 0, "content", 0, "text"],
  ["message", "content"],
  ["choices", 0, "message", "content"],
  ["choices", 0, "text"],
  ["content", "parts", 0, "text"],
  ["content", 0, "text"],
  ["response", "text"],
  ...["output", "text", "content", "response", "data"].map((name) => [name]),
];

/** Reads an agent's answer, wherever n8n would have it. */
const readAnswer = (label: string, path: readonly PathPart[]): Reading =>
  outputOf(label, ANSWERS.map((beginning) => after(path, ...beginning)).find(Boolean) ?? path);

/** For the nodes that ask a model; their data is put together by agentOf. */
export const agentKind: Kind = {
  type: "agentNode",
  data: () => ({}),
  reads: ({ label }, path) => readAnswer(label, path),
};
