import { type IncomingMessage, ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { AppError, ERRORS, errorBody, isAppError, outageOf } from "#server/platform/errors.ts";
import type { ErrorCode } from "#server/shared/error-schema.ts";

/** For how long what a client still sends is read and dropped, in milliseconds: in all, and while nothing comes. */
const LINGER_MS = 30_000;
const SILENT_MS = 5000;

/**
 * Lets an answer reach a client that is still sending. The connection ends with the answer, but closing one with bytes
 * unread resets it, and a reset may take away what the client has not read yet (RFC 9112, section 9.6). So only our half
 * ends at first, and what comes is dropped until the client ends its half, stops sending or has had its time.
 */
export function lingerAfter(response: ServerResponse): void {
  response.setHeader("connection", "close");
  const { req, socket } = response;
  if (!socket || req.complete) return;
  const { destroySoon } = socket;
  // What Node calls once the answer has been written.
  socket.destroySoon = () => {
    socket.destroySoon = destroySoon;
    if (req.complete) return socket.destroySoon();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.once("close", () => clearTimeout(timer)).setTimeout(SILENT_MS, () => socket.destroy());
    // Not by way of the request: whoever had enough of its body may have destroyed that, and then nothing is read any more.
    socket.removeAllListeners("data").on("data", () => undefined);
    socket.resume();
    socket.end();
  };
}

// What is answered under /api/v1 by others than our own code (Next, Node's parser) leaves in the same envelope.

/** What is said for an answer whose own words are not ours. */
const WORDS: Partial<Record<ErrorCode, string>> = {
  BAD_REQUEST: "The request cannot be read. Check its path, headers and body.",
  NOT_FOUND: "There is nothing at this path. The API is described at /api/v1/openapi.json.",
  METHOD_NOT_ALLOWED: "This path does not take this method. The API is described at /api/v1/openapi.json.",
  SERVICE_UNAVAILABLE: "The service cannot answer for the moment. Try again in 5 seconds.",
  STORAGE_FULL: "The disk of this service is full. Ask its operator to free space, then try again.",
  PAYLOAD_TOO_LARGE: "The body is larger than the limit. Send less at once.",
};

function errorOf(status: number): AppError {
  const row = Object.entries(ERRORS).find(([, known]) => known.status === status);
  const code = (row?.[0] ?? (status < 500 ? "BAD_REQUEST" : "INTERNAL_ERROR")) as ErrorCode;
  return new AppError(code, WORDS[code] ?? ERRORS[code].meaning, code === "SERVICE_UNAVAILABLE" ? { retryAfter: 5 } : {});
}

/** Answers with an error in the envelope. */
export function answerError(response: ServerResponse, error: unknown, headers: Record<string, string> = {}): void {
  const known = isAppError(error) ? error : outageOf(error);
  const body = errorBody(known ?? error);
  if (known?.retryAfter !== undefined) response.setHeader("retry-after", String(Math.ceil(known.retryAfter)));
  const text = JSON.stringify(body);
  response.statusCode = body.status;
  const described = { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)), "cache-control": "no-store" };
  for (const [name, value] of Object.entries({ ...described, ...headers })) response.setHeader(name, value);
  response.end(text);
}

const STALL_MS = 30_000;
/** Checks for progress in that time. */
const CHECKS_PER_STALL = 6;

/** Changes whenever the kernel has taken more of what a socket is to send, also of a single large chunk. */
function progressOf(socket: Socket): string {
  const waiting: unknown = Reflect.get(Object(Reflect.get(socket, "_handle")), "writeQueueSize");
  return `${socket.bytesWritten - socket.writableLength} ${waiting}`;
}

/** Responses up to this size are not accounted for, in bytes: they fit into the buffers of a connection. */
const FREE_BYTES = 64 * 1024;

/** Bytes of a chunk that is written. */
function sizeOf(chunk: unknown): number {
  if (typeof chunk === "string") return Buffer.byteLength(chunk);
  return chunk instanceof Uint8Array ? chunk.byteLength : 0;
}

/**
 * An answer that can keep to the envelope: one from 400 on that is not JSON (a page of Next, an empty body) is looked at when
 * its headers are about to be sent, and leaves as our envelope; what was written for it is left out. So does every answer to
 * a request whose body was refused meanwhile. Where the connection ends with an answer, a client that is still sending can read it. Methods of a class:
 * put on each answer they would give each a shape of its own, which keeps the answer and all that hangs on it in memory until
 * the next collection of old objects.
 */
export class EnvelopeResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** Set before anything is answered. */
  keepsEnvelope = false;
  /** Headers of this answer unless it has its own of the same names. */
  presets: Record<string, string> = {};
  /** Reserves bytes that wait to be sent, until this response closes. Returns why they may not be, if they may not. */
  reserve: ((bytes: number) => AppError | undefined) | undefined;
  /** A connection that takes nothing of this response for this long is closed, in milliseconds. */
  stallMs = STALL_MS;
  #reserved = 0;
  #isWatched = false;
  #refusal: AppError | undefined;
  /** What the request's body was refused for, if it was. */
  get refusal(): AppError | undefined {
    return this.#refusal;
  }
  #replaced: string | undefined;

  /** Answers this error, whatever is answered by others later; what was sent already stays as it is. */
  refuse(error: AppError): void {
    this.#refusal ??= error;
  }

  /** Accounts for bytes that are about to be written. Returns false when the response was closed because too many would wait. */
  #admit(bytes: number): boolean {
    if (this.#replaced !== undefined) return true;
    const length = Number(this.getHeader("content-length") ?? 0);
    const waiting = this.req.method === "HEAD" ? 0 : Math.max(length, this.writableLength + bytes);
    if (waiting <= Math.max(FREE_BYTES, this.#reserved)) return true;
    const error = this.reserve?.(waiting - this.#reserved);
    if (!error) this.#reserved = waiting;
    else if (this.headersSent) this.destroy();
    else this.refuse(error);
    return !(error && this.destroyed);
  }

  /** Closes the connection when it stalls. Bytes that the client sends meanwhile are no progress. */
  #watchStall(): void {
    const { socket } = this;
    if (!socket || this.#isWatched) return;
    this.#isWatched = true;
    let seen = progressOf(socket);
    let unchanged = 0;
    const check = () => {
      if (this.destroyed) return clearInterval(timer);
      const isWaiting = this.writableNeedDrain || (this.writableEnded && !this.writableFinished);
      const current = progressOf(socket);
      unchanged = isWaiting && current === seen ? unchanged + 1 : 0;
      seen = current;
      if (unchanged >= CHECKS_PER_STALL) socket.destroy();
    };
    const timer = setInterval(check, this.stallMs / CHECKS_PER_STALL).unref();
  }

  #look(): void {
    if (this.#replaced !== undefined || this.headersSent) return;
    if (this.#refusal) this.statusCode = ERRORS[this.#refusal.code].status;
    // The rest of a body that did not say how long it is has no end to wait for, so nothing can follow it on this connection.
    const isTooLarge = this.#refusal !== undefined || this.statusCode === ERRORS.PAYLOAD_TOO_LARGE.status;
    if (!this.shouldKeepAlive || (isTooLarge && !this.req.headers["content-length"])) lingerAfter(this);
    if (!this.#refusal && (!this.keepsEnvelope || this.statusCode < 400 || String(this.getHeader("content-type")).includes("json"))) return;
    const error = this.#refusal ?? errorOf(this.statusCode);
    const body = errorBody(error);
    this.#replaced = JSON.stringify(body);
    this.statusCode = body.status;
    for (const name of ["content-encoding", "transfer-encoding", "etag", "vary", "link", "location"]) this.removeHeader(name);
    this.setHeader("content-type", "application/json");
    this.setHeader("content-length", Buffer.byteLength(this.#replaced));
    this.setHeader("cache-control", "no-store");
    if (error.retryAfter !== undefined) this.setHeader("retry-after", String(Math.ceil(error.retryAfter)));
  }

  override writeHead(status: number, ...rest: unknown[]): this {
    const headers = rest.find((part) => typeof part === "object" && part !== null);
    if (Array.isArray(headers)) return Reflect.apply(super.writeHead, this, [status, ...rest]);
    this.statusCode = status;
    for (const [name, value] of Object.entries(headers ?? {})) this.setHeader(name, value);
    this.#admit(0);
    this.#look();
    for (const [name, value] of Object.entries(this.presets)) if (!this.hasHeader(name)) this.setHeader(name, value);
    return super.writeHead(this.statusCode);
  }

  override write(...args: unknown[]): boolean {
    if (!this.#admit(sizeOf(args[0]))) return true;
    this.#look();
    if (this.#replaced !== undefined) return true;
    const isTaken: boolean = Reflect.apply(super.write, this, args);
    if (!isTaken) this.#watchStall();
    return isTaken;
  }

  override end(...args: unknown[]): this {
    if (!this.#admit(sizeOf(args[0]))) return this;
    this.#look();
    Reflect.apply(super.end, this, this.#replaced === undefined ? args : [this.#replaced]);
    if (!this.writableFinished && this.writableLength > 0) this.#watchStall();
    return this;
  }
}

const TOO_LARGE_HEADERS = "The path and headers of the request are larger than the limit of 16 KiB. Send them shorter.";
const LATE = "The request did not arrive in time. Send it again, faster.";
const BROKEN = "Malformed HTTP request. Check the request line, headers and Content-Length.";
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
