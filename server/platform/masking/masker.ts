import { AppError } from "#server/platform/errors.ts";
import { SecretFinder, type Span } from "#server/platform/masking/secret-finder.ts";
import { secretForms } from "#server/platform/masking/secret-forms.ts";
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
  /** The texts of an object in these fields; every other stays. */
  fields<Value extends object>(value: Value, names: readonly string[]): Value;
  stream(): MaskedStream;
}

const sameStream: MaskedStream = { push: (piece) => piece, end: () => "" };

/** Masks nothing: of runs that read no secret. */
export const unmasked: Masker = {
  text: (text) => text,
  deep: (value) => value,
  fields: (value) => value,
  stream: () => sameStream,
};

class Stream implements MaskedStream {
  readonly #finder: SecretFinder;
  #held = "";
  /** How many characters of what is held belong to a secret whose mask has been shown. */
  #covered = 0;

  constructor(finder: SecretFinder) {
    this.#finder = finder;
  }

  push(piece: string): string {
    const text = this.#held + piece;
    const { spans, open } = this.#finder.find(text);
    const cut = text.length - open;
    let shown = "";
    let position = this.#covered;
    let covered = this.#covered;
    for (const [start, end] of spans) {
      if (start < covered) {
        // It overlaps a secret whose mask has been shown: both are one.
        position = covered = Math.max(covered, end);
        continue;
      }
      if (start >= cut) break;
      shown += text.slice(position, start) + MASK;
      position = covered = end;
    }
    if (position < cut) shown += text.slice(position, cut);
    this.#held = text.slice(cut);
    this.#covered = Math.max(0, covered - cut);
    return shown;
  }

  end(): string {
    const rest = this.#held.slice(this.#covered);
    this.#held = "";
    this.#covered = 0;
    return rest;
  }
}

function replaced(text: string, spans: readonly Span[]): string {
  let result = "";
  let position = 0;
  for (const [start, end] of spans) {
    result += text.slice(position, start) + MASK;
    position = end;
  }
  return result + text.slice(position);
}

class ValueMasker implements Masker {
  readonly #finder: SecretFinder;

  constructor(secrets: readonly string[]) {
    this.#finder = new SecretFinder(secrets);
  }

  readonly text = (text: string): string => {
    const { spans } = this.#finder.find(text);
    return spans.length ? replaced(text, spans) : text;
  };

  deep<Value>(value: Value): Value {
    return this.#deep(value) as Value;
  }

  #deep(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (Array.isArray(value)) return value.map((item) => this.#deep(item));
    if (typeof value !== "object" || value === null) return value;
    if (isExactNumber(value)) {
      const digits = JSON.stringify(value);
      const shown = this.text(digits);
      return shown === digits ? value : shown;
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.text(key), this.#deep(item)]));
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

/**
 * Masks these secrets by value, in the forms of server/platform/masking/secret-forms.ts, with any character escaped. Secrets that overlap in a text are one
 * mask, so nothing of either is left.
 * @throws AppError CONFLICT when they are too long to be looked for: then nothing may be told in which they could stand
 */
export function maskerOf(secrets: Iterable<string>): Masker {
  const all = [...new Set(secrets)];
  if (all.reduce((sum, { length }) => sum + length, 0) > MOST_CHARACTERS)
    throw new AppError(
      "CONFLICT",
      `The project's secrets have more than ${MOST_CHARACTERS} characters together, too many to keep them out of what runs show. Delete credentials or keys that nothing uses.`,
    );
  const worth = all.filter((secret) => secretForms(secret).length > 0);
  return worth.length ? new ValueMasker(worth) : unmasked;
}
