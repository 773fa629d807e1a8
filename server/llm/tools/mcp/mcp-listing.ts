import { z } from "zod";
import type { McpToolInfo } from "#server/llm/tools/mcp/mcp-endpoint.ts";
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
export function toolIn(value: unknown): McpToolInfo | undefined {
  const { name, description, inputSchema } = Object(value) as { name?: unknown; description?: unknown; inputSchema?: unknown };
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME) return undefined;
  return {
    name: cleanText(name),
    description: typeof description === "string" ? cleanText(description.slice(0, MAX_DESCRIPTION)) : "",
    // Arguments are always an object, whatever else is said of them; models are told so.
    input_schema: { ...schemaOf(inputSchema), type: "object" },
  };
}
