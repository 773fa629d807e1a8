import { createByteLedger } from "#server/platform/byte-ledger.ts";
import type { DeferredTexts, StoredText } from "#server/platform/deferred-texts.ts";
import { AppError } from "#server/platform/errors.ts";
import { KeyedSemaphore } from "#server/platform/keyed-semaphore.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** Longest body that is sent as one piece, and the size of a piece of a longer one, in bytes. */
const WHOLE_BYTES = 256 * KIB;
const PIECE_BYTES = 64 * KIB;
/** Longest body that gets a Content-Length, in bytes: the front accounts for as much at once. */
const MAX_TOLD_LENGTH = 16 * MIB;

/** Characters of a stored text that are read at once: of its first piece, and at most. A client that reads gets larger ones. */
const FIRST_READ = 64 * KIB;
const MAX_READ = 512 * KIB;
/** Bytes that a character is accounted for while it waits: as text, as JSON and as bytes. */
const BYTES_PER_CHARACTER = 4;

/** Bytes of large responses that one account may have in memory, and all accounts. */
const held = createByteLedger({ each: 32 * MIB, all: 128 * MIB, isFirstFree: true });

/** Pieces that are read at once for one account, and for all. Each is a few milliseconds of work. */
const ofAccount = new KeyedSemaphore(2, 10_000, "Too many large responses are sent to this account. Wait a few seconds and try again.");
const ofAll = new KeyedSemaphore(4, 10_000, "Too many large responses are sent. Wait a few seconds and try again.");

/** Options of a large response. */
export interface Sending {
  /** Account, or address of an anonymous client, whose memory it counts as. */
  account?: string | undefined;
  /** Long texts that the body has placeholders for. */
  texts?: DeferredTexts | undefined;
  /** Fires when the client goes away. */
  signal?: AbortSignal | undefined;
  /** True for the response to a request that may have changed something: it is sent however much the account has in memory. */
  isOutcome?: boolean;
}

/** Memory of one response. */
class Reservation {
  readonly #account: string | undefined;
  #bytes = 0;
  #isReleased = false;

  constructor(account: string | undefined) {
    this.#account = account;
  }

  /** True once the response has ended. */
  get isReleased(): boolean {
    return this.#isReleased;
  }

  /** Returns false when the account, or all accounts, would hold too much. */
  grow(bytes: number): boolean {
    if (this.#account === undefined) return true;
    if (this.#isReleased) return false;
    if (!held.reserve(this.#account, bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    if (this.#account !== undefined) held.release(this.#account, this.#bytes);
  }
}

/** Releases the memory of a body that was neither read nor cancelled: Next drops it when the client disconnects first. */
const dropped = new FinalizationRegistry<Reservation>((reservation) => reservation.release());

const tooManyResponses = (): AppError =>
  new AppError(
    "RATE_LIMIT_EXCEEDED",
    "Too many large responses to your account wait to be read. Read them, or close their connections, and try again.",
    { retryAfter: 5 },
  );

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/** Yields a stored text as JSON. What is read at once grows as long as the client takes it and there is memory for it. */
async function* storedPieces(text: StoredText, account: string, reservation: Reservation): AsyncGenerator<Uint8Array> {
  let count = FIRST_READ;
  const pieces = text.pieces(() => count);
  // One that waited for its turn may have ended meanwhile.
  const next = async () => (reservation.isReleased ? pieces.return(undefined) : pieces.next());
  yield Buffer.from('"');
  for (;;) {
    const { value: piece, done } = await ofAccount.run(account, () => ofAll.run("", next));
    if (done) break;
    yield* piecesOf(Buffer.from(JSON.stringify(piece).slice(1, -1)));
    if (count < MAX_READ && reservation.grow(count * BYTES_PER_CHARACTER)) count *= 2;
  }
  yield Buffer.from('"');
}

/** Makes a body of what a generator yields, each piece once the one before has been taken. */
function bodyOf(pieces: AsyncGenerator<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { value, done } = await pieces.next();
          if (!done) return controller.enqueue(value);
          onEnd();
          controller.close();
        } catch (error) {
          onEnd();
          throw error;
        }
      },
      async cancel() {
        onEnd();
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

/**
 * A response with a text of any length. A long one is sent piece by piece and not compressed: a compressor would hold it again. Of
 * texts that are deferred only a piece is in memory at a time.
 * @throws AppError RATE_LIMIT_EXCEEDED when the account has too much in memory that waits to be read
 */
export function textResponse(
  text: string,
  status: number,
  headers: Record<string, string>,
  { account, texts, signal, isOutcome = false }: Sending = {},
): Response {
  const parts = texts?.split(text) ?? [text];
  const { "content-length": _, ...described }: Record<string, string> = { "cache-control": "no-store", ...headers };
  const isShort = parts.length === 1 && text.length <= WHOLE_BYTES && Buffer.byteLength(text) <= WHOLE_BYTES;
  if (isShort) return new Response(text, { status, headers: { ...described, "content-length": String(Buffer.byteLength(text)) } });

  const fixed = parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part));
  const length = fixed.reduce((sum, part) => sum + (part instanceof Uint8Array ? part.byteLength : 0), 0);
  const reservation = new Reservation(account);
  const isHeld = reservation.grow(length + (parts.length > 1 ? FIRST_READ * BYTES_PER_CHARACTER : 0));
  if (!isHeld && !isOutcome) throw tooManyResponses();
  const pieces = async function* () {
    for (const part of fixed)
      if (part instanceof Uint8Array) yield* piecesOf(part);
      else yield* storedPieces(part, account ?? "", reservation);
  };
  const isTold = parts.length === 1 && length <= MAX_TOLD_LENGTH;
  const body = bodyOf(pieces(), () => reservation.release());
  dropped.register(body, reservation);
  signal?.addEventListener("abort", () => reservation.release(), { once: true });
  return new Response(body, {
    status,
    headers: {
      ...described,
      ...(isTold && { "content-length": String(length) }),
      "cache-control": [...new Set(`${described["cache-control"]}, no-transform`.split(", "))].join(", "),
    },
  });
}
