import type { ChildProcess } from "node:child_process";
import { TimeSlice } from "#server/platform/time-slice.ts";
import { PIECE, piecesOf } from "#server/shared/text-pieces.ts";

// Messages between a process and its child. One with long texts is preceded by these in pieces: sending 16 MiB at once takes as long
// as everything that a slice of time is for, and several copies of the text.

/** Depth to which a message is searched for long texts. */
const MAX_DEPTH = 4;

/** A piece of a long text, or a message with the places from which its long texts were taken, each with the number of its text. */
export type Sent<Message> = { piece: string; isLast: boolean } | { message: Message; places: [place: (string | number)[], text: number][] };

type End = Pick<ChildProcess | NodeJS.Process, "send">;

const isPlain = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

/** A message without its long texts, which are put into `texts` by their first place. */
class Splitter {
  readonly texts = new Map<string, number>();
  readonly places: [place: (string | number)[], text: number][] = [];

  without(value: unknown, place: readonly (string | number)[] = []): unknown {
    if (typeof value === "string") return value.length <= PIECE ? value : this.#take(value, place);
    if (typeof value !== "object" || value === null || place.length === MAX_DEPTH) return value;
    if (!Array.isArray(value) && !isPlain(value)) return value;
    let copy: Record<string | number, unknown> | undefined;
    for (const [key, part] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
      // Most parts are short, and need no place.
      if (typeof part === "string" ? part.length <= PIECE : typeof part !== "object" || part === null) continue;
      const left = this.without(part, [...place, key]);
      if (left === part) continue;
      copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string | number, unknown>; // cast: a list by index
      copy[key] = left;
    }
    return copy ?? value;
  }

  #take(text: string, place: readonly (string | number)[]): string {
    const number = this.texts.get(text) ?? this.texts.size;
    this.texts.set(text, number);
    this.places.push([[...place], number]);
    return "";
  }
}

/**
 * Sends a message, the long texts in it in pieces between which the event loop has its turn.
 * @param isOver ends the sending early
 */
export async function sendInPieces<Message>(to: End, message: Message, isOver: () => boolean = () => false): Promise<void> {
  const splitter = new Splitter();
  const short = splitter.without(message) as Message; // cast: the same but for texts
  const send = (sent: Sent<Message>, done?: () => void) => to.send?.(sent, undefined, undefined, done ?? (() => undefined));
  if (splitter.texts.size > 0) {
    const slice = new TimeSlice();
    for (const text of splitter.texts.keys()) {
      let at = 0;
      for (const piece of piecesOf(text)) {
        if (isOver()) return;
        at += piece.length;
        await new Promise<void>((resolve) => send({ piece, isLast: at === text.length }, resolve));
        if (slice.isUp) await slice.next();
      }
    }
    if (isOver()) return;
  }
  // When it cannot be sent the process is gone, and its exit says so.
  send({ message: short, places: splitter.places });
}

/** Puts messages of the other side together. */
export class Receiver<Message> {
  #texts: string[] = [];
  #text = "";

  /** Returns a whole message, or undefined while more of it comes. */
  take(sent: Sent<Message>): Message | undefined {
    if ("piece" in sent) {
      this.#text += sent.piece;
      if (!sent.isLast) return undefined;
      this.#texts.push(this.#text);
      this.#text = "";
      return undefined;
    }
    // The message stands in an object, so that one that is a text is no special case.
    const whole: { message: Message } = { message: sent.message };
    for (const [place, text] of sent.places) {
      const path = ["message", ...place];
      const last = path.pop() ?? "";
      const holder = path.reduce<unknown>((value, key) => (value as Record<string | number, unknown>)[key], whole);
      (holder as Record<string | number, unknown>)[last] = this.#texts[text]; // cast: the sender has walked the same places
    }
    this.#texts = [];
    return whole.message;
  }
}
