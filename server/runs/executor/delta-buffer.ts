import type { MaskedStream, Masker } from "#server/platform/masking/masker.ts";
import type { Clock, EventWrite } from "#server/runs/ports.ts";

/** How long pieces of an answer gather before they are written, in milliseconds. */
const FLUSH_MS = 50;
/** Of an answer that is cut off so much is kept, in characters. */
const MOST_PARTIAL = 64 * 1024;

/** Which node of which iteration a piece comes from. */
interface Source {
  node_id: string;
  iteration: string;
}

const keyOf = ({ node_id, iteration }: Source) => `${iteration} ${node_id}`;

/**
 * Gathers the pieces that running nodes emit and writes them a few times a second. Pieces are a courtesy to viewers:
 * a write that fails is dropped, the whole output is written when the node completes. So is what is held back at the end
 * because it may be the beginning of a secret.
 */
export class DeltaBuffer {
  readonly #write: (events: EventWrite[]) => Promise<void>;
  readonly #clock: Clock;
  readonly #masker: Masker;
  readonly #streams = new Map<string, MaskedStream>();
  /** What was told of each call under way, for one that does not come to its end. */
  readonly #told = new Map<string, string>();
  #pieces = new Map<string, { source: Source; content: string; reset: boolean }>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(write: (events: EventWrite[]) => Promise<void>, clock: Clock, masker: Masker) {
    this.#write = write;
    this.#clock = clock;
    this.#masker = masker;
  }

  add(source: Source, content: string): void {
    const key = keyOf(source);
    const stream = this.#streams.get(key) ?? this.#masker.stream();
    this.#streams.set(key, stream);
    const shown = stream.push(content);
    if (shown === "") return;
    const told = this.#told.get(key) ?? "";
    if (told.length < MOST_PARTIAL) this.#told.set(key, (told + shown).slice(0, MOST_PARTIAL));
    const piece = this.#pieces.get(key);
    this.#pieces.set(key, { source, content: (piece?.content ?? "") + shown, reset: piece?.reset ?? false });
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
  }

  /** Tells viewers to forget what came before: the call is tried again. */
  reset(source: Source): void {
    this.#streams.delete(keyOf(source));
    this.#told.delete(keyOf(source));
    this.#pieces.set(keyOf(source), { source, content: "", reset: true });
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
  }

  /** Drops what has not been written of a node and waits for a write under way, so that no piece comes after its result. */
  async settle(source: Source): Promise<void> {
    this.#pieces.delete(keyOf(source));
    this.#streams.delete(keyOf(source));
    this.#told.delete(keyOf(source));
    await this.#writing;
  }

  /** What a call under way has said so far, without secrets and up to a bound; null when that is nothing. */
  soFar(source: Source): string | null {
    return this.#told.get(keyOf(source))?.toWellFormed() ?? null;
  }

  #flush(): void {
    this.#timer = undefined;
    const timestamp = this.#clock.now().toISOString();
    const events = [...this.#pieces.values()].map(({ source, content, reset }): EventWrite => {
      const { node_id, iteration } = source;
      return { type: "node_delta", node_id, ...(iteration && { iteration }), content, timestamp, ...(reset && { reset }) };
    });
    this.#pieces = new Map();
    if (events.length) this.#writing = this.#writing.then(() => this.#write(events)).catch(() => undefined);
  }

  /** Ends the timer; pieces not written are dropped. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#pieces = new Map();
  }
}
