import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { cleanText } from "#server/clean-text.ts";
import { cutResult, type ToolAnswer } from "#server/tools/tool.ts";

type Part = CallToolResult["content"][number];

/** Bytes of base64 in words: `12 kB`. */
function sizeOf(base64: string): string {
  const bytes = Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** One part as text: what cannot be read as text is described, never dropped in silence. */
function partText(part: Part): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "image":
    case "audio":
      return `[${part.type} ${part.mimeType} ${sizeOf(part.data)}]`;
    case "resource_link":
      return `[resource ${part.uri}${part.mimeType ? ` ${part.mimeType}` : ""}] ${part.title ?? part.name}${part.description ? `: ${part.description}` : ""}`;
    case "resource": {
      const { resource } = part;
      const head = `[resource ${resource.uri}${resource.mimeType ? ` ${resource.mimeType}` : ""}`;
      return "text" in resource ? `${head}]\n${resource.text}` : `${head} ${sizeOf(resource.blob)}]`;
    }
  }
}

/** What a tool of an MCP server answered, as text for a model, cut to what a model is given. */
export function answerOf({ content, structuredContent, isError }: CallToolResult): ToolAnswer {
  const parts = content.map(partText).filter((text) => text !== "");
  // Servers put structured content into a text part too; those that do not would seem to answer nothing.
  if (parts.length === 0 && structuredContent) parts.push(JSON.stringify(structuredContent));
  const text = cutResult(cleanText(parts.join("\n\n")));
  return { result: text || (isError ? "The tool failed without saying why." : "The tool answered nothing."), success: isError !== true };
}
