const OPENS = "<think>";
const CLOSES = "</think>";

/**
 * Leaves out what a model thinks at the beginning of its text. Servers that know the model send thoughts apart; others hand on
 * the tags in which DeepSeek, Qwen and their like think (https://huggingface.co/deepseek-ai/DeepSeek-R1).
 */
export class WithoutThinking {
  /** What came and is not given out: it may be, or is, a thought. */
  #held = "";
  /** Blanks at the very beginning. Apart, so that they are not gone through again with each piece. */
  #blanks = "";
  /** All of a thought that has not ended. */
  #thought = "";
  #state: "beginning" | "thinking" | "after" | "answering" = "beginning";

  /** @returns what of the text so far can be given out now */
  add(piece: string): string {
    if (this.#state === "answering") return piece;
    this.#held += piece;
    if (this.#state === "beginning") {
      const text = this.#held.trimStart();
      if (text === "") {
        this.#blanks += this.#held;
        this.#held = "";
        return "";
      }
      if (text.length < OPENS.length && OPENS.startsWith(text)) return "";
      if (!text.startsWith(OPENS)) return this.#answer(this.#blanks + this.#held);
      this.#state = "thinking";
    }
    if (this.#state === "thinking") {
      const end = this.#held.indexOf(CLOSES);
      if (end < 0) {
        // Only its last letters can be a part of the closing tag.
        this.#thought += this.#held.slice(0, -CLOSES.length);
        this.#held = this.#held.slice(-CLOSES.length);
        return "";
      }
      this.#held = this.#held.slice(end + CLOSES.length);
      this.#state = "after";
    }
    this.#held = this.#held.trimStart();
    return this.#held === "" ? "" : this.#answer(this.#held);
  }

  /**
   * @param isCut the text ended at the limit of its length, and not because the model had said all
   * @returns the rest, once nothing more comes; a tag that was never closed was no thought but a part of the answer
   */
  end(isCut: boolean): string {
    if (this.#state === "thinking" && !isCut) return this.#answer(this.#blanks + this.#thought + this.#held);
    return this.#state === "beginning" ? this.#answer(this.#blanks + this.#held) : "";
  }

  #answer(text: string): string {
    this.#state = "answering";
    this.#held = "";
    return text;
  }
}
