import type { Clock, EventWrite } from "#server/engine/ports.ts";

/** How long pieces of an answer gather before they are written, in milliseconds. */
const FLUSH_MS = 50;

/**
 * Gathers the pieces that running nodes emit and writes them a few times a second. Pieces are a courtesy to viewers:
 * a write that fails is dropped, the whole output is written when the node completes.
 */
export class DeltaBuffer {
  readonly #write: (events: EventWrite[]) => Promise<void>;
  readonly #clock: Clock;
  #pieces = new Map<string, { content: string; reset: boolean }>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(write: (events: EventWrite[]) => Promise<void>, clock: Clock) {
    this.#write = write;
    this.#clock = clock;
  }

  add(node_id: string, content: string): void {
    const piece = this.#pieces.get(node_id);
    this.#pieces.set(node_id, { content: (piece?.content ?? "") + content, reset: piece?.reset ?? false });
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
  }

  /** Tells viewers to forget what came before: the call is tried again. */
  reset(node_id: string): void {
    this.#pieces.set(node_id, { content: "", reset: true });
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
  }

  /** Drops what has not been written of a node and waits for a write under way, so that no piece comes after its result. */
  async settle(node_id: string): Promise<void> {
    this.#pieces.delete(node_id);
    await this.#writing;
  }

  #flush(): void {
    this.#timer = undefined;
    const timestamp = this.#clock.now().toISOString();
    const events = [...this.#pieces].map(
      ([node_id, { content, reset }]): EventWrite => ({ type: "node_delta", node_id, content, timestamp, ...(reset && { reset }) }),
    );
    this.#pieces = new Map();
    if (events.length) this.#writing = this.#writing.then(() => this.#write(events)).catch(() => undefined);
  }

  /** Ends the timer; pieces not written are dropped. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#pieces = new Map();
  }
}
