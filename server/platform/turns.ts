import { AppError } from "#server/platform/errors.ts";

interface Line {
  atWork: number;
  waiting: (() => void)[];
}

/**
 * Lets a few do something heavy at once for each key, such as a project; others wait in line, and who finds the line too long is told.
 * In one process: each has connections of its own to protect.
 */
export class Turns {
  readonly #lines = new Map<string, Line>();
  readonly #atOnce: number;
  readonly #mostWaiting: number;
  readonly #refusal: string;

  /** @param refusal what is told where the line is too long */
  constructor(atOnce: number, mostWaiting: number, refusal: string) {
    this.#atOnce = atOnce;
    this.#mostWaiting = mostWaiting;
    this.#refusal = refusal;
  }

  /** Does the work when it is its turn. @throws AppError RATE_LIMIT_EXCEEDED where too many wait */
  async take<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const line = this.#lines.get(key) ?? { atWork: 0, waiting: [] };
    this.#lines.set(key, line);
    if (line.atWork >= this.#atOnce) {
      if (line.waiting.length >= this.#mostWaiting) throw new AppError("RATE_LIMIT_EXCEEDED", this.#refusal, { retryAfter: 2 });
      // Whoever is done hands over the turn itself, so nobody gets in between.
      await new Promise<void>((resolve) => line.waiting.push(resolve));
    } else line.atWork++;
    try {
      return await work();
    } finally {
      const next = line.waiting.shift();
      if (next) next();
      else if (--line.atWork === 0) this.#lines.delete(key);
    }
  }
}
