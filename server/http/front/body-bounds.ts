import { IncomingMessage } from "node:http";
import { createByteLedger } from "#server/platform/byte-ledger.ts";
import { AppError } from "#server/platform/errors.ts";

/**
 * A request whose body can be cut off where it comes in, before anything is kept of it, whoever reads it and however its
 * length is told. A class, as EnvelopeResponse is and for its reason.
 */
export class BoundedRequest extends IncomingMessage {
  #refusal: AppError | undefined;
  #admit: ((bytes: number) => AppError | undefined) | undefined;

  /**
   * Looks at each piece of the body before it is kept.
   * @param admit says why the body may not go on, if it may not
   */
  watch(admit: (bytes: number) => AppError | undefined): void {
    this.#admit = admit;
  }

  /** Takes nothing more of the body. Whoever reads it meets the error; the connection stays, for the answer. */
  refuse(error: AppError): void {
    this.#refusal = error;
    this.destroy(error);
    // Nobody reads on who would have the rest come in.
    this.socket.resume();
  }

  override push(chunk: Uint8Array | null, encoding?: BufferEncoding): boolean {
    if (chunk === null) return super.push(chunk, encoding);
    // Told that it is wanted, Node goes on reading from the connection; what is dropped fills nothing.
    if (this.destroyed) return true;
    const error = this.#admit?.(chunk.length);
    if (!error) return super.push(chunk, encoding);
    this.refuse(error);
    return true;
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    // Node's own ends the connection of a request that is not whole, and the answer with it.
    if (!this.#refusal || error !== this.#refusal) super._destroy(error, callback);
    else process.nextTick(() => callback(this.listenerCount("error") > 0 ? error : null));
  }
}

const MIB = 1024 * 1024;

/**
 * Bytes that bodies or responses may hold in memory: of one client, and of all together.
 * @param most the setting MAX_BODY_BYTES, which the bounds grow with
 */
export const heldBytes = (most: number) => ({ each: Math.max(64 * MIB, 4 * most), all: Math.max(256 * MIB, 16 * most) });

/** Forms of pages and of sign-in. */
const FORM_BYTES = 64 * 1024;
/** What an Inngest server may send, who is known only once it has been read: ids and states of a run's steps, 1,000 at most. */
export const STEP_BYTES = 4 * MIB;

interface Door {
  base: string;
  /** @param most the setting MAX_BODY_BYTES */
  bytes(most: number): number;
}

/** How large a body may be, by the door it comes to: the first whose base the path is under. */
const DOORS: readonly Door[] = [
  { base: "/api/v1", bytes: (most) => most },
  { base: "/api/trpc", bytes: (most) => most },
  { base: "/api/inngest", bytes: (most) => Math.max(most, STEP_BYTES) },
  { base: "", bytes: (most) => Math.min(most, FORM_BYTES) },
];

function tooLarge(limit: number, isFile: boolean): AppError {
  const most = limit < MIB ? `${Math.floor(limit / 1024)} KiB` : `${Number((limit / MIB).toFixed(1))} MiB`;
  if (!isFile) return new AppError("PAYLOAD_TOO_LARGE", `The body is larger than the limit of ${most}. Send less at once.`);
  const sentence = `The file is larger than ${most}. Split it up or add it by its address, or have the operator raise MAX_BODY_BYTES.`;
  return new AppError("PAYLOAD_TOO_LARGE", sentence);
}

/** Pieces of any size that a body may come in, and the average size from there on, in bytes. A piece of one byte costs as much as one of thousands. */
const FREE_PIECES = 1000;
const MIN_PIECE_BYTES = 64;

const tooSmallPieces = () =>
  new AppError("BAD_REQUEST", `The body comes in pieces of less than ${MIN_PIECE_BYTES} bytes on average. Send it in larger pieces.`);

const tooManyAtOnce = () =>
  new AppError("RATE_LIMIT_EXCEEDED", "Too many large bodies are under way at once. Wait a few seconds and send it again.", {
    retryAfter: 5,
  });

/**
 * Bounds what every door takes in, before anybody has said who asks: each body by the door's size, and all that are on
 * their way by what they hold in memory together, so that many slow senders cannot fill it.
 * @param most the setting MAX_BODY_BYTES
 * @returns looks after the body of one request; `refuse` is told why nothing more of it is taken: at once when the length that it tells
 *   is too large, or when it turns out so later; also for a body in very small chunks
 */
export function createBodyBounds(most: number) {
  const ledger = createByteLedger(heldBytes(most));

  return (request: BoundedRequest, path: string, client: string, refuse: (error: AppError) => void): void => {
    const door = DOORS.find(({ base }) => base === "" || path === base || path.startsWith(`${base}/`));
    const limit = door?.bytes(most) ?? 0;
    const isFile = String(request.headers["content-type"]).startsWith("multipart/form-data");
    const stop = (error: AppError) => {
      refuse(error);
      return error;
    };
    const isChunked = request.headers["transfer-encoding"] !== undefined;
    let size = 0;
    let pieces = 0;
    request.watch((bytes) => {
      if (isChunked && ++pieces > FREE_PIECES && size + bytes < pieces * MIN_PIECE_BYTES) return stop(tooSmallPieces());
      if (size + bytes > limit) return stop(tooLarge(limit, isFile));
      if (!ledger.reserve(client, bytes)) return stop(tooManyAtOnce());
      if (size === 0) request.once("close", () => ledger.release(client, size));
      size += bytes;
      return undefined;
    });
    if (Number(request.headers["content-length"] ?? 0) > limit) request.refuse(stop(tooLarge(limit, isFile)));
  };
}
