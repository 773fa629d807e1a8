import type { Frame } from "#server/runs/executor/frame.ts";
import type { EndedItems, LedgerWrite } from "#server/runs/ports.ts";
import { listPieces, listText } from "#server/shared/json-text.ts";

/** How one item ended. */
export type ItemEnd = { status: "complete"; output: string } | { status: "failed"; error: string } | { status: "skipped" };

/** The result of a failed item of a loop that goes on. */
export const errorText = (error: string): string => JSON.stringify({ error });

const resultOf = (end: ItemEnd): string => (end.status === "complete" ? end.output : end.status === "failed" ? errorText(end.error) : "");

/** A loop under way: which items have ended and how, and which run now. Pure: the segment starts frames and writes rows. */
export class LoopRun {
  /** Its own row, running until the last item has ended. */
  readonly row: LedgerWrite;
  readonly frame: Frame;
  readonly items: readonly unknown[];
  readonly active = new Map<number, Frame>();
  complete = 0;
  failed = 0;
  /** True once no further item is started: one was rejected. */
  isStopped = false;
  readonly #concurrency: number;
  readonly #continues: boolean;
  readonly #results: (string | undefined)[];
  /** Items that ended in an earlier segment, whose results are read when the loop closes. */
  readonly #unread = new Set<number>();
  #next = 0;

  constructor(row: LedgerWrite, frame: Frame, items: readonly unknown[], config: { concurrency: number; continues: boolean }) {
    this.row = row;
    this.frame = frame;
    this.items = items;
    this.#concurrency = config.concurrency;
    this.#continues = config.continues;
    this.#results = new Array(items.length);
  }

  /** The next item to start, or undefined when none may be started now. */
  take(): number | undefined {
    if (this.isStopped || this.active.size >= this.#concurrency) return undefined;
    while (this.#next < this.items.length && (this.#results[this.#next] !== undefined || this.active.has(this.#next))) this.#next++;
    return this.#next < this.items.length ? this.#next++ : undefined;
  }

  /** Takes note of an ended item. */
  end(index: number, end: ItemEnd): void {
    this.active.delete(index);
    if (end.status === "skipped") this.isStopped = true;
    else if (end.status === "complete") this.complete++;
    else this.failed++;
    this.#results[index] = resultOf(end);
  }

  /** Takes note of what an earlier segment has done; the results themselves are wanted when the loop closes. */
  recall({ spans, complete, failed, isStopped }: EndedItems): void {
    for (const [from, to] of spans)
      for (let index = from; index < to; index++) {
        this.#results[index] = "";
        this.#unread.add(index);
      }
    this.complete = complete;
    this.failed = failed;
    this.isStopped = isStopped;
  }

  /** True when results of earlier segments are still to be read. */
  get isUnread(): boolean {
    return this.#unread.size > 0;
  }

  /** Gives it the results of earlier segments. */
  read(results: Iterable<[index: number, end: ItemEnd]>): void {
    for (const [index, end] of results) if (this.#unread.has(index)) this.#results[index] = resultOf(end);
    this.#unread.clear();
  }

  /** True when this item has ended. */
  hasEnded(index: number): boolean {
    return this.#results[index] !== undefined;
  }

  /** True when a failed item fails the whole loop. */
  get isFragile(): boolean {
    return !this.#continues;
  }

  /** True when nothing of it runs and nothing is to start. */
  get isOver(): boolean {
    return this.active.size === 0 && (this.isStopped || this.complete + this.failed === this.items.length);
  }

  /** Characters of the results together. */
  get size(): number {
    return this.#results.reduce((sum, result) => sum + (result?.length ?? 0), 0);
  }

  /** The results as a JSON array, in the order of the items. */
  output(): string {
    return listText(this.#results.map((result) => result ?? ""));
  }

  /** The same in pieces, some of which may be empty. */
  outputPieces(): Iterable<string> {
    return listPieces(this.#results.map((result) => result ?? ""));
  }
}
