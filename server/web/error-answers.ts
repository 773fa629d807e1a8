import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { AppError, ERRORS, errorBody } from "#server/errors.ts";
import type { ErrorCode } from "#server/schemas/error.ts";
import { lingerAfter } from "#server/web/linger.ts";

// What is answered under /api/v1 by others than our own code (Next, Node's parser) leaves in the same envelope.

/** What is said for an answer whose own words are not ours. */
const WORDS: Partial<Record<ErrorCode, string>> = {
  BAD_REQUEST: "The request cannot be read. Check its path, headers and body.",
  NOT_FOUND: "There is nothing at this path. The API is described at /api/v1/openapi.json.",
  METHOD_NOT_ALLOWED: "This path does not take this method. The API is described at /api/v1/openapi.json.",
  PAYLOAD_TOO_LARGE: "The body is larger than the limit. Send less at once.",
};

function errorOf(status: number): AppError {
  const row = Object.entries(ERRORS).find(([, known]) => known.status === status);
  const code = (row?.[0] ?? (status < 500 ? "BAD_REQUEST" : "INTERNAL_ERROR")) as ErrorCode;
  return new AppError(code, WORDS[code] ?? ERRORS[code].meaning);
}

/** Answers with an error in the envelope. */
export function answerError(response: ServerResponse, error: unknown, headers: Record<string, string> = {}): void {
  const body = errorBody(error);
  const text = JSON.stringify(body);
  response.statusCode = body.status;
  const described = { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)), "cache-control": "no-store" };
  for (const [name, value] of Object.entries({ ...described, ...headers })) response.setHeader(name, value);
  response.end(text);
}

/**
 * Makes sure that an answer from 400 on that is not JSON (a page of Next, an empty body) leaves as our envelope: it is
 * looked at when its headers are about to be sent, and what was written for it is left out. After a 413
 * that leaves a body half read the connection ends.
 */
export function keepEnvelope(response: ServerResponse): void {
  const { writeHead, write, end } = response;
  let replaced: string | undefined;

  function look(): void {
    if (replaced !== undefined || response.headersSent || response.statusCode < 400) return;
    // The rest of a body that did not say how long it is has no end to wait for, so nothing can follow it on this connection.
    const isLast = !response.shouldKeepAlive || !response.req.headers["content-length"];
    if (isLast && response.statusCode === ERRORS.PAYLOAD_TOO_LARGE.status) lingerAfter(response);
    if (String(response.getHeader("content-type")).includes("json")) return;
    const body = errorBody(errorOf(response.statusCode));
    replaced = JSON.stringify(body);
    response.statusCode = body.status;
    for (const name of ["content-encoding", "transfer-encoding", "etag", "vary", "link"]) response.removeHeader(name);
    response.setHeader("content-type", "application/json");
    response.setHeader("content-length", Buffer.byteLength(replaced));
    response.setHeader("cache-control", "no-store");
  }

  response.writeHead = function head(this: ServerResponse, status: number, ...rest: unknown[]) {
    response.statusCode = status;
    const headers = rest.find((part) => typeof part === "object" && part !== null);
    if (Array.isArray(headers)) return Reflect.apply(writeHead, response, [status, ...rest]);
    for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, value);
    look();
    return writeHead.call(response, response.statusCode);
  } as typeof writeHead;
  response.write = function part(this: ServerResponse, ...args: unknown[]) {
    look();
    return replaced === undefined ? Reflect.apply(write, response, args) : true;
  } as typeof write;
  response.end = function last(this: ServerResponse, ...args: unknown[]) {
    look();
    return Reflect.apply(end, response, replaced === undefined ? args : [replaced]);
  } as typeof end;
}

const TOO_LARGE_HEADERS = "The path and headers of the request are larger than the limit of 16 KiB. Send them shorter.";
const LATE = "The request did not arrive in time. Send it again, faster.";
const BROKEN = "The request is not HTTP as it should be. Check its first line, its headers and how the length of its body is told.";
const SENTENCES: Record<string, string> = { HPE_HEADER_OVERFLOW: TOO_LARGE_HEADERS, ERR_HTTP_REQUEST_TIMEOUT: LATE };

/** The whole answer, as text for the socket, to what Node's parser refused. The connection ends with it. */
export function unreadableAnswer(error: NodeJS.ErrnoException, headers: Record<string, string>): string {
  return rawAnswer(new AppError("BAD_REQUEST", SENTENCES[error.code ?? ""] ?? BROKEN), headers);
}

function rawAnswer(error: AppError, headers: Record<string, string>): string {
  const body = errorBody(error);
  const text = JSON.stringify(body);
  const lines = Object.entries({
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(text),
    "Cache-Control": "no-store",
    Connection: "close",
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${body.status} ${STATUS_CODES[body.status]}\r\n${lines.join("")}\r\n${text}`;
}

/** Whether a socket may still be given an answer: it is open, and no other answer has begun on it. */
export function isAnswerable(socket: Duplex, error: NodeJS.ErrnoException, open: Iterable<ServerResponse<IncomingMessage>>): boolean {
  if (!socket.writable || error.code === "ECONNRESET") return false;
  return ![...open].some((response) => response.socket === socket && response.headersSent);
}
