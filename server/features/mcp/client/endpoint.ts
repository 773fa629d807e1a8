import type { McpTransport } from "#server/features/mcp/schema.ts";
import { maskerOf } from "#server/platform/masking/masker.ts";
import type { Reach } from "#server/platform/net/guard.ts";

/** A server with everything that a call of it needs. Keep it inside the call: it holds secrets. */
export interface McpEndpoint {
  /** As people named it, for sentences; undefined while it has no name yet. */
  name?: string;
  url: string;
  transport: McpTransport;
  /** Sent with every request; the values are secrets. */
  headers: Record<string, string>;
  /** How far requests may go. */
  reach: Reach;
  /** Tools that are switched off. */
  disabledTools?: readonly string[];
}

/** The text without the header values of the endpoint, with or without the scheme before them (`Bearer …`). */
export function withoutSecrets(text: string, { headers }: Pick<McpEndpoint, "headers">): string {
  const values = Object.values(headers).flatMap((value) => [value, value.replace(/^\S+\s+/, "")]);
  return maskerOf(values).text(text);
}
