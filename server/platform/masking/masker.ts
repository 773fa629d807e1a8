import { AppError } from "#server/platform/errors.ts";
import { SecretFinder, type SecretScan } from "#server/platform/masking/secret-finder.ts";
import { secretForms } from "#server/platform/masking/secret-forms.ts";
import { finished, inTimeSlices } from "#server/platform/time-slice.ts";
import { isExactNumber } from "#server/shared/json-text.ts";

/** What stands in place of a secret. */
export const MASK = "••••";

/** Masks a text that comes in pieces: what may be the beginning of a secret is held back until it cannot be any more. */
export interface MaskedStream {
  /** What can be shown now; the pieces together are what `text` makes of the whole, up to what is still held back. */
  push(piece: string): string;
  /** What is held back, once no more comes: the beginning of a secret that did not go on. */
  end(): string;
}

/** Puts •••• in place of secrets. A text without any is the same afterwards. */
export interface Masker {
  text(text: string): string;
  /** Every text in a value that is like JSON, keys included. */
  deep<Value>(value: Value): Value;
  /** As `deep`, in slices of time between which the event loop has its turn. Remembers the last long texts for `text`. */
  inSlices<Value>(value: Value): Promise<Value>;
  /** The texts of an object in these fields; every other stays. */
  fields<Value extends object>(value: Value, names: readonly string[]): Value;
  stream(): MaskedStream;
}

const sameStream: MaskedStream = { push: (piece) => piece, end: () => "" };

/** Masks nothing: of runs that read no secret. */
export const unmasked: Masker = {
  text: (text) => text,
  deep: (value) => value,
  inSlices: async (value) => value,
  fields: (value) => value,
  stream: () => sameStream,
};

class Stream implements MaskedStream {
  readonly #finder: SecretFinder;
  #scan: SecretScan;
  #held = "";
  /** Offset in the whole text at which the held text begins. */
  #from = 0;
  /** The end of the secrets whose masks have been shown. */
  #covered = 0;
  /** True when a secret has been masked. */
  hasMasked = false;

  constructor(finder: SecretFinder) {
    this.#finder = finder;
    this.#scan = finder.scan();
  }

  push(piece: string): string {
    this.#held += piece;
    this.#scan.push(piece);
    return this.#show(this.#scan.open);
  }

  end(): string {
    const rest = this.#show(this.#scan.end());
    this.#scan = this.#finder.scan();
    this.#from = this.#covered = 0;
    return rest;
  }

  /** Shows the text up to `cut`, before which no further secret begins. */
  #show(cut: number): string {
    const { spans } = this.#scan;
    let shown = "";
    let position = Math.max(this.#from, this.#covered);
    let count = 0;
    for (const [start, end] of spans) {
      // One that overlaps a secret whose mask has been shown is one with it.
      const isCovered = start < this.#covered;
      if (!isCovered && start >= cut) break;
      if (!isCovered) shown += this.#held.slice(position - this.#from, start - this.#from) + MASK;
      position = this.#covered = Math.max(this.#covered, end);
      count++;
    }
    spans.splice(0, count);
    this.hasMasked ||= count > 0;
    if (position < cut) shown += this.#held.slice(position - this.#from, cut - this.#from);
    if (cut > this.#from) this.#held = this.#held.slice(cut - this.#from);
    this.#from = cut;
    return shown;
  }
}

/** Characters that are read before other work may have its turn. */
const SLICE = 16 * 1024;
/** Texts from this length on are remembered when they have been masked: they are often masked again at once, as they are kept. */
export const LONG = 64 * 1024;
const MAX_REMEMBERED = 8;

class ValueMasker implements Masker {
  readonly #finder: SecretFinder;
  #remembered: { text: string; shown: string }[] = [];

  constructor(finder: SecretFinder) {
    this.#finder = finder;
  }

  readonly text = (text: string): string => finished(this.#text(text));

  deep<Value>(value: Value): Value {
    return finished(this.#deep(value)) as Value;
  }

  inSlices<Value>(value: Value): Promise<Value> {
    return inTimeSlices(this.#deep(value)) as Promise<Value>;
  }

  *#text(text: string): Generator<void, string> {
    const known = text.length < LONG ? undefined : this.#remembered.find((one) => one.text === text || one.shown === text);
    if (known) return known.shown;
    const stream = new Stream(this.#finder);
    let shown = "";
    for (let at = 0; at < text.length; at += SLICE) {
      shown += stream.push(text.slice(at, at + SLICE));
      yield;
    }
    shown += stream.end();
    if (!stream.hasMasked) shown = text;
    if (text.length >= LONG) this.#remembered = [{ text, shown }, ...this.#remembered].slice(0, MAX_REMEMBERED);
    return shown;
  }

  *#deep(value: unknown): Generator<void, unknown> {
    if (typeof value === "string") return yield* this.#text(value);
    if (typeof value !== "object" || value === null) return value;
    yield;
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value) items.push(yield* this.#deep(item));
      return items;
    }
    if (isExactNumber(value)) {
      const digits = JSON.stringify(value);
      const shown = this.text(digits);
      return shown === digits ? value : shown;
    }
    const entries: [string, unknown][] = [];
    for (const [key, item] of Object.entries(value)) entries.push([yield* this.#text(key), yield* this.#deep(item)]);
    return Object.fromEntries(entries);
  }

  fields<Value extends object>(value: Value, names: readonly string[]): Value {
    const texts = Object.entries(value).flatMap(([name, text]) =>
      names.includes(name) && typeof text === "string" ? [[name, this.text(text)] as const] : [],
    );
    return { ...value, ...Object.fromEntries(texts) };
  }

  stream(): MaskedStream {
    return new Stream(this.#finder);
  }
}

/** The most characters that secrets may have together: looking for them takes about 500 bytes of memory for each. */
const MOST_CHARACTERS = 200_000;

function* masking(secrets: Iterable<string>): Generator<void, Masker> {
  const all = [...new Set(secrets)];
  if (all.reduce((sum, { length }) => sum + length, 0) > MOST_CHARACTERS)
    throw new AppError(
      "CONFLICT",
      `The project's secrets have more than ${MOST_CHARACTERS} characters together, too many to keep them out of what runs show. Delete credentials or keys that nothing uses.`,
    );
  const worth = all.filter((secret) => secretForms(secret).length > 0);
  return worth.length ? new ValueMasker(yield* SecretFinder.build(worth)) : unmasked;
}

/**
 * Masks these secrets by value, in the forms of server/platform/masking/secret-forms.ts, with any character escaped. Secrets that overlap in a text are one
 * mask, so nothing of either is left.
 * @throws AppError CONFLICT when they are too long to be looked for: then nothing may be told in which they could stand
 */
export const maskerOf = (secrets: Iterable<string>): Masker => finished(masking(secrets));

/** As `maskerOf`, for any number of secrets: the event loop has its turn between slices of the work. */
export const maskerInSlices = (secrets: Iterable<string>): Promise<Masker> => inTimeSlices(masking(secrets));
