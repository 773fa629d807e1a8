import { z } from "zod";
import { Id, ignoredFields, Name, pageOf, Timestamp } from "#server/shared/primitives-schema.ts";

export const McpTransport = z
  .enum(["streamable_http", "sse"])
  .meta({ id: "McpTransport", title: "Transport", description: "streamable_http, or sse for servers of the older protocol" });
export type McpTransport = z.infer<typeof McpTransport>;

const Url = z
  .url({ protocol: /^https?$/ })
  .max(2000)
  .meta({
    title: "Address",
    description: "Where the server speaks MCP; put keys into headers, not into it",
    example: "https://mcp.example.com/mcp",
  });

/** Headers that the protocol or the connection sets by itself. */
const OWN_HEADERS =
  /^(host|content-.*|connection|transfer-encoding|accept|accept-encoding|upgrade|te|trailer|keep-alive|expect|proxy-.*|mcp-.*|last-event-id)$/i;

/** What is wrong with the names of headers, if anything. */
function checkHeaderNames(headers: Record<string, unknown>, context: z.core.$RefinementCtx): void {
  const seen = new Set<string>();
  const names = Object.keys(headers);
  if (names.length > 20) context.addIssue({ code: "custom", message: "Give at most 20 headers.", path: [] });
  for (const name of names.slice(0, 100)) {
    const refuse = (message: string) => context.addIssue({ code: "custom", message, path: [name] });
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name))
      refuse("A header's name has letters, digits and hyphens only, at most 100 of them.");
    else if (OWN_HEADERS.test(name)) refuse("This header is set by the connection itself. Leave it out.");
    else if (seen.has(name.toLowerCase())) refuse("This header is given twice.");
    seen.add(name.toLowerCase());
  }
}

const HeaderValue = z
  .string()
  .min(1, "Enter the header's value.")
  .max(8000)
  .regex(
    /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/,
    "A header's value holds plain letters, digits and signs, with no line break and no blank at its ends.",
  );
const headers = z
  .record(z.string().max(200), HeaderValue)
  .superRefine(checkHeaderNames)
  .meta({
    title: "Headers",
    description: "Sent with every request. Values are secrets: stored encrypted, never returned",
    example: { Authorization: "Bearer mcp-9f2c" },
  });

const ToolNames = z
  .array(z.string().min(1).max(256))
  .max(500)
  .meta({ title: "Tools switched off", description: "Names of tools that agents do not get" });

export const McpTool = z
  .object({
    name: z.string(),
    description: z.string(),
    input_schema: z.record(z.string(), z.unknown()).meta({ description: "JSON Schema of the arguments" }),
  })
  .meta({ id: "McpTool" });
export type McpTool = z.infer<typeof McpTool>;

const summary = {
  id: Id,
  name: z.string(),
  url: z.string(),
  transport: McpTransport,
  header_names: z.array(z.string()).meta({ description: "Names of the headers; their values are never returned" }),
  disabled_tools: z.array(z.string()),
  tool_count: z.number().int().meta({ description: "How many tools the server has, those that are switched off too" }),
  last_seen_at: Timestamp.nullable().meta({ description: "When its tools were last listed" }),
  last_error: z
    .string()
    .nullable()
    .meta({ description: "Why the last try failed, or what of the list of tools is missing; null when all came" }),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const McpServer = z.object(summary).meta({ id: "McpServer" });
export type McpServer = z.infer<typeof McpServer>;
export const McpServerPage = pageOf(McpServer);

export const McpServerDetail = z
  .object({
    ...summary,
    tools: z.array(McpTool.extend({ enabled: z.boolean().meta({ description: "False when it is in disabled_tools" }) })),
  })
  .meta({ id: "McpServerDetail" });
export type McpServerDetail = z.infer<typeof McpServerDetail>;

const name = Name.meta({ description: "Unique in the project; models see it before each tool's name", title: "Name" });
const written = { name, url: Url, transport: McpTransport, headers, disabled_tools: ToolNames };

export const CreateMcpServerInput = z.strictObject({
  ...ignoredFields(McpServerDetail, written),
  name,
  url: Url,
  transport: McpTransport.optional().meta({ description: "streamable_http when left out" }),
  headers: headers.optional(),
  disabled_tools: ToolNames.optional(),
});
export type CreateMcpServerInput = z.infer<typeof CreateMcpServerInput>;

export const UpdateMcpServerInput = z.strictObject({
  ...ignoredFields(McpServerDetail, written),
  mcp_id: Id,
  name: name.optional(),
  url: Url.optional(),
  transport: McpTransport.optional(),
  headers: z
    .record(z.string().max(200), HeaderValue.nullable())
    .superRefine(checkHeaderNames)
    .optional()
    .meta({ title: "Headers", description: "All of them: a name that is left out is removed, null keeps the stored value" }),
  disabled_tools: ToolNames.optional(),
});
export type UpdateMcpServerInput = z.infer<typeof UpdateMcpServerInput>;

export const McpServerRef = z.strictObject({ mcp_id: Id });

export const DiscoverMcpInput = z.strictObject({
  url: Url,
  transport: McpTransport.optional().meta({ description: "streamable_http when left out" }),
  headers: headers.optional(),
});
export type DiscoverMcpInput = z.infer<typeof DiscoverMcpInput>;
export const McpTools = z
  .object({
    tools: z.array(McpTool),
    missing: z.string().optional().meta({ description: "What of the list could not be read; left out when all came" }),
  })
  .meta({ id: "McpTools" });
export type McpTools = z.infer<typeof McpTools>;
