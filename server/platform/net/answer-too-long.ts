const size = (bytes: number): string => (bytes >= 1024 * 1024 ? `${bytes / 1024 / 1024} MiB` : `${bytes / 1024} KiB`);

/** An answer that was given up because of its length. */
export class AnswerTooLong extends Error {
  /** @param most how many bytes of it would have been read, or the limit in words: "128 tool calls" */
  constructor(most: number | string) {
    super(`The answer is longer than ${typeof most === "number" ? size(most) : most}.`);
    this.name = "AnswerTooLong";
  }
}
