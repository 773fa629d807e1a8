import { z } from "zod";
import type { McpTool } from "#server/features/mcp/schema.ts";
import { cutResult, type ToolAnswer } from "#server/llm/tools/tool.ts";
import { cleanText } from "#server/platform/clean-text.ts";

/**
 * One page of a list of tools, as far as it must be known. What a server fills in wrongly about one tool must not cost the
 * others.
 */
export const ToolPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.unknown().optional() });
export type ToolPage = z.infer<typeof ToolPage>;

const MAX_NAME = 200;
const MAX_DESCRIPTION = 10_000;
/** Longest schema of a tool's arguments, in characters of JSON. */
const MAX_SCHEMA = 64 * 1024;

/** The JSON as PostgreSQL keeps it. */
const cleanJson = <Value>(value: Value): Value =>
  JSON.parse(JSON.stringify(value), (_, item) => (typeof item === "string" ? cleanText(item) : item));

/** What a tool says of its arguments; nothing when it says far too much, or nests it so deep that it cannot be gone through. */
function schemaOf(value: unknown): object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  try {
    return JSON.stringify(value).length > MAX_SCHEMA ? {} : cleanJson(value);
  } catch {
    return {};
  }
}

/** A tool of such a page; undefined for what has no name by which it could be called. */
export function toolIn(value: unknown): McpTool | undefined {
  const { name, description, inputSchema } = Object(value) as { name?: unknown; description?: unknown; inputSchema?: unknown };
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME) return undefined;
  return {
    name: cleanText(name),
    description: typeof description === "string" ? cleanText(description.slice(0, MAX_DESCRIPTION)) : "",
    // Arguments are always an object, whatever else is said of them; models are told so.
    input_schema: { ...schemaOf(inputSchema), type: "object" },
  };
}

/**
 * What a call of a tool answered, as far as it must be known. Servers send parts that no protocol has, or fill them in wrongly:
 * one of those must not cost the rest of the answer.
 */
export const ToolResult = z.looseObject({
  content: z.unknown().optional(),
  structuredContent: z.unknown().optional(),
  isError: z.unknown().optional(),
  // Of servers from before the protocol had parts.
  toolResult: z.unknown().optional(),
});
export type ToolResult = z.infer<typeof ToolResult>;

interface Part {
  type?: unknown;
  text?: unknown;
  data?: unknown;
  mimeType?: unknown;
  uri?: unknown;
  name?: unknown;
  title?: unknown;
  description?: unknown;
  resource?: unknown;
}

const said = (value: unknown): string => (typeof value === "string" ? value : "");

/** Bytes of base64 in words: `12 kB`. */
function sizeOf(base64: string): string {
  const bytes = Math.floor((base64.replace(/^data:[^,]*,/, "").replace(/(?<!=)=+$/, "").length * 3) / 4);
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

const inBrackets = (...words: string[]): string => `[${words.filter(Boolean).join(" ")}]`;

/** A resource that came along: its text, or what it is. */
function resourceText(value: unknown): string {
  const { uri, mimeType, text, blob } = Object(value) as { uri?: unknown; mimeType?: unknown; text?: unknown; blob?: unknown };
  if (typeof text === "string") return `${inBrackets("resource", said(uri), said(mimeType))}\n${text}`;
  return inBrackets("resource", said(uri), said(mimeType), typeof blob === "string" ? sizeOf(blob) : "");
}

/** One part as text: what cannot be read as text is described, never dropped in silence. */
function partText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  const part = Object(value) as Part;
  switch (part.type) {
    case "text":
      return said(part.text);
    case "image":
    case "audio":
      return inBrackets(part.type, said(part.mimeType), sizeOf(said(part.data)));
    case "resource_link": {
      const description = said(part.description);
      const name = `${said(part.title) || said(part.name)}${description && `: ${description}`}`;
      return [inBrackets("resource", said(part.uri), said(part.mimeType)), name].filter(Boolean).join(" ");
    }
    case "resource":
      return resourceText(part.resource);
    default:
      return JSON.stringify(value) ?? "";
  }
}

/** What a tool of an MCP server answered, as text for a model, cut to what a model is given. */
export function answerOf({ content, structuredContent, isError, toolResult }: ToolResult): ToolAnswer {
  const parts = (Array.isArray(content) ? content : [content ?? ""]).map(partText).filter((text) => text !== "");
  // Servers put structured content into a text part too; those that do not would seem to answer nothing.
  const more = structuredContent ?? toolResult;
  if (parts.length === 0 && more !== undefined && more !== null) parts.push(typeof more === "string" ? more : JSON.stringify(more));
  const text = cutResult(cleanText(parts.join("\n\n")));
  return { result: text || (isError ? "The tool failed without saying why." : "The tool answered nothing."), success: isError !== true };
}
