import { ERRORS } from "#server/platform/errors.ts";
import { ErrorBody, type ErrorCode } from "#server/shared/error-schema.ts";
import type { Operation } from "#server/testing/api/operations.ts";

/** An answer, read to its end; of an event stream only the head. */
export interface Reply {
  status: number;
  type: string;
  text: string;
  headers: Headers;
}

const StrictErrorBody = ErrorBody.strict();
/** What no answer may show: a stack, a query, a path of ours, a name of a library. */
const INTERNALS = /\.[cm]?[jt]sx?:\d+:\d+|node_modules|prisma|SELECT .+ FROM|TypeError|RangeError|ECONNREFUSED|\/server\//;

/** What is wrong with an answer that is no success, as sentences. */
export function faultsOfError({ status, type, text, headers }: Reply, code?: ErrorCode): string[] {
  if (!type.startsWith("application/json")) return [`content-type is ${type || "absent"}`];
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return ["the body is not JSON"];
  }
  const parsed = StrictErrorBody.safeParse(data);
  if (!parsed.success) return [`not the envelope: ${text.slice(0, 300)}`];
  const { error_code, detail, errors } = parsed.data;
  const noStore = headers.get("cache-control")?.includes("no-store");
  return [
    ...(parsed.data.status === status ? [] : [`status in the body is ${parsed.data.status}`]),
    ...(ERRORS[error_code].status === status ? [] : [`${error_code} does not belong to ${status}`]),
    ...(code === undefined || error_code === code ? [] : [`${error_code} instead of ${code}`]),
    ...(detail.trim() === "" ? ["an empty detail"] : []),
    ...(errors?.some(({ message }) => message.trim() === "") ? ["an error without a message"] : []),
    ...(noStore ? [] : ["it may be kept by a cache"]),
    ...(INTERNALS.test(text) ? [`it shows internals: ${text.slice(0, 300)}`] : []),
  ];
}

/** Reads what `fetch` gave; an event stream is let go after its head. */
export async function readReply(response: Response): Promise<Reply> {
  const type = response.headers.get("content-type") ?? "";
  const isStream = type.startsWith("text/event-stream");
  if (isStream) await response.body?.cancel();
  return { status: response.status, type, text: isStream ? "" : await response.text(), headers: response.headers };
}

/** What calls a model or another service while the caller waits, so that a 502 tells of that one. */
const CALLS_OUT = /^(POST|PUT) \/(agents|llm-keys|mcp|rags)|^GET \/rags\/\{rag_id\}\/search/;

/**
 * What is wrong with an answer to an operation, whatever was sent.
 * @param place where what was sent is off, such as `path agent_id`
 */
export function faultsOfAnswer(operation: Pick<Operation, "name" | "statuses">, place: string, reply: Reply): string[] {
  const { status, type, text } = reply;
  if (status < 300) {
    if (status === 204) return text === "" ? [] : ["204 with a body"];
    return /^(application\/json|text\/event-stream|text\/csv|text\/plain)/.test(type) ? [] : [`content-type is ${type || "absent"}`];
  }
  if (status < 400) return ["a redirect"];
  if (status === 502 && CALLS_OUT.test(operation.name)) return faultsOfError(reply, "UPSTREAM_ERROR");
  if (status >= 500) return ["a fault of the service"];
  // With another value in the path it may be another path.
  const isNamed = place.startsWith("path ") || operation.statuses.includes(status);
  return [...faultsOfError(reply), ...(isNamed ? [] : [`the document does not name ${status}`])];
}
