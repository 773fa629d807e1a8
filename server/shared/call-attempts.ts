import { shorten } from "#server/shared/shorten.ts";

/** One try of an outgoing call that was made more than once. */
export interface CallAttempt {
  started_at: string;
  duration_ms: number;
  /** Error of the attempt; null for one that was answered. */
  error: string | null;
}

/** Tries that are kept of one attempt at a node, the first ones. */
export const MAX_CALL_ATTEMPTS = 50;
export const MAX_ATTEMPT_ERROR_LENGTH = 500;

/**
 * Adds a try to those that are kept.
 * @param mask removes secrets from the error before it is shortened
 */
export function withCallAttempt(kept: readonly CallAttempt[], made: CallAttempt, mask: (text: string) => string): CallAttempt[] {
  if (kept.length >= MAX_CALL_ATTEMPTS) return [...kept];
  return [...kept, { ...made, error: made.error === null ? null : shorten(mask(made.error), MAX_ATTEMPT_ERROR_LENGTH) }];
}

/** Times the tries of one call, and reports them once there is more than one. */
export class CallAttempts {
  readonly #report: ((attempt: CallAttempt) => void) | undefined;
  readonly #now: () => number;
  #started: number;
  #hasFailed = false;

  constructor(report: ((attempt: CallAttempt) => void) | undefined, now: () => number = Date.now) {
    this.#report = report;
    this.#now = now;
    this.#started = now();
  }

  /** Starts to time the next try. */
  start(): void {
    this.#started = this.#now();
  }

  /** A try has failed that is repeated. */
  repeat(error: string): void {
    this.#hasFailed = true;
    this.#add(error);
  }

  /** The last try has ended. */
  end(error: string | null): void {
    if (this.#hasFailed) this.#add(error);
  }

  #add(error: string | null): void {
    const started_at = new Date(this.#started).toISOString();
    this.#report?.({ started_at, duration_ms: Math.max(0, Math.round(this.#now() - this.#started)), error });
  }
}
