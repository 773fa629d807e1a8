import { randomUUID } from "node:crypto";

/** A long text in the database, which is read in pieces. */
export interface StoredText {
  /**
   * Reads the text in order, each piece when it is asked for. A piece may be empty.
   * @param count returns the most characters of the next piece
   * @throws Error when the text is no longer stored
   */
  pieces(count: () => number): AsyncGenerator<string>;
}

/**
 * Long texts of one response. The response is made with a placeholder for each, and the sender puts the text there piece by
 * piece, so that a text never is in memory as a whole. A placeholder has the character U+0000, which is in no stored text, and an
 * id that cannot be guessed.
 */
export class DeferredTexts {
  readonly #id = randomUUID();
  readonly #texts: StoredText[] = [];

  /** True while no text has been taken out. */
  get isEmpty(): boolean {
    return this.#texts.length === 0;
  }

  /** Returns the placeholder of a text. */
  defer(text: StoredText): string {
    return `\u0000${this.#id}:${this.#texts.push(text) - 1}`;
  }

  /** Splits JSON with placeholders into the JSON between them and, for each of them, its text. */
  split(json: string): (string | StoredText)[] {
    if (this.isEmpty) return [json];
    const parts = json.split(new RegExp(`"\\\\u0000${this.#id}:(\\d+)"`));
    return parts.flatMap((part, index) => (index % 2 === 0 ? part : (this.#texts[Number(part)] ?? [])));
  }
}
