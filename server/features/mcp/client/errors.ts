import { SseError } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ErrorCode, McpError, SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/sdk/types.js";
import { type McpEndpoint, withoutSecrets } from "#server/features/mcp/client/endpoint.ts";
import { AppError, messageOf } from "#server/platform/errors.ts";
import { masked } from "#server/platform/mask-scope.ts";
import { AddressRefused } from "#server/platform/net/guard.ts";
import { ProxyFailed } from "#server/platform/net/proxy-connection.ts";
import { AnswerTooLong } from "#server/platform/net/read-up-to.ts";

/** Time ran out; `seconds` is the limit that applied. */
export class McpTimeout extends Error {
  readonly seconds: number;
  constructor(seconds: number) {
    super(`no answer within ${seconds} seconds`);
    this.seconds = seconds;
  }
}

/** The connection ended while an answer was awaited. */
export class ConnectionLost extends Error {}

const MOST_WORDS = 300;
const BROKE_OFF = "broke off the connection before it answered. Try again.";

const codeOf = (error: unknown): string | undefined => {
  for (let at = error; at instanceof Error; at = at.cause) if ("code" in at && typeof at.code === "string") return at.code;
  return undefined;
};

/** The HTTP status that the server refused with, if that is what happened. */
export function statusOf(error: unknown): number | undefined {
  const code = error instanceof StreamableHTTPError || error instanceof SseError ? error.code : undefined;
  if (code !== undefined && code >= 300) return code;
  const inText = error instanceof Error ? /\(HTTP (\d{3})\)/.exec(error.message)?.[1] : undefined;
  return inText ? Number(inText) : undefined;
}

/** What a server said beside its status, as one line; nothing of a web page. */
function wordsOf(message: string): string {
  const text = message.replace(/^(Streamable HTTP error|SSE error): /, "").replace(/^Error POSTing to endpoint[^:]*: /, "");
  if (/<!doctype|<html/i.test(text)) return "";
  const inJson = /"message"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
  return masked(inJson ?? text)
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, MOST_WORDS);
}

const redirectIn = (message: string) => /Redirect to (\S+) not followed/.exec(message)?.[1];

function refusal(status: number, message: string, { transport }: McpEndpoint): string {
  const target = redirectIn(message);
  if (target !== undefined) return `answered ${status}: it redirects to ${target}. Enter the final address.`;
  const words = wordsOf(message).replace(/^Non-200 status code \(\d+\)$/, "");
  const said = `answered ${status}${words ? ` (${words.replace(/(?<![.\s])[.\s]+$/, "")})` : ""}`;
  if (status === 401 || status === 403) return `${said}. Check the headers: most servers want an Authorization header.`;
  // A current server answers 400 to a client of the older protocol, as it bears no session.
  if ([404, 405, 406].includes(status) || (status === 400 && transport === "sse")) {
    const other =
      transport === "sse"
        ? "choose the transport streamable_http if it is a current server"
        : "choose the transport sse if it is an older one";
    return `${said}. Check the address (many end in ${transport === "sse" ? "/sse" : "/mcp"}), or ${other}.`;
  }
  if (status === 429) return `${said}: it is asked too often. Wait a little and try again.`;
  if (status >= 500) return `${said}: the fault is on its side. Try again later.`;
  return `${said}.`;
}

function connectionTrouble(code: string | undefined, host: string): string {
  if (code === "ENOTFOUND") return `cannot be found: there is no server named ${host}. Check the address.`;
  if (code === "ECONNREFUSED") return `does not accept connections at ${host}. Check the address, and that the server runs.`;
  if (code === "ETIMEDOUT" || code === "EAI_AGAIN") return `could not be reached at ${host} in time. Try again later.`;
  if (code === "ECONNRESET" || code === "EPIPE") return BROKE_OFF;
  if (code && /^(CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO)/.test(code))
    return `has no certificate that can be trusted at ${host} (${code}).`;
  return `could not be reached at ${host}${code ? ` (${code})` : ""}.`;
}

/** What the rest of the sentence is, after the name of the server. */
function predicate(error: unknown, endpoint: McpEndpoint): string {
  if (error instanceof AddressRefused) return `was not called. ${error.message}`;
  if (error instanceof ProxyFailed) return `was not reached. ${error.message}`;
  if (error instanceof McpTimeout) return `gave no answer within ${error.seconds} seconds. Try again, or ask its operator.`;
  if (error instanceof ConnectionLost) return BROKE_OFF;
  if (error instanceof AnswerTooLong) return "sent an answer that is too long to read.";
  // Before anything is cut: what is left of half a secret would not be known.
  const message = withoutSecrets(messageOf(error), endpoint);
  const status = statusOf(error);
  if (status !== undefined) return refusal(status, message, endpoint);
  if (error instanceof McpError) {
    if (error.code === ErrorCode.ConnectionClosed) return BROKE_OFF;
    return `refused: ${wordsOf(message.replace(/^MCP error -?\d+: /, "")).replace(/(?<![.\s])[.\s]+$/, "")}.`;
  }
  const version = /^Server's protocol version is not supported: (.*)$/s.exec(message)?.[1];
  if (version !== undefined)
    return `answered with the protocol version ${wordsOf(version).slice(0, 40) || "(none)"}, which is not known here. Ask its operator to allow ${SUPPORTED_PROTOCOL_VERSIONS.slice(0, 2).join(" or ")}.`;
  const code = codeOf(error);
  if (code) return connectionTrouble(code, new URL(endpoint.url).host);
  return "does not speak MCP at this address: its answer cannot be read. Check the address and the transport.";
}

/**
 * One sentence for people about whatever a call of an MCP server threw. The server is named by its name, else by its
 * host; header values never appear.
 * @returns AppError UPSTREAM_ERROR
 */
export function mcpFailure(error: unknown, endpoint: McpEndpoint): AppError {
  if (error instanceof AppError) return error;
  const who = endpoint.name === undefined ? `The MCP server at ${new URL(endpoint.url).host}` : `The MCP server "${endpoint.name}"`;
  return new AppError("UPSTREAM_ERROR", withoutSecrets(`${who} ${predicate(error, endpoint)}`, endpoint), { cause: error });
}
