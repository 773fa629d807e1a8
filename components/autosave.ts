import type { ErrorBody } from "#server/shared/error-schema.ts";

/** How what is kept on the server stands. */
export type AutosaveState =
  | { kind: "saved" }
  | { kind: "changed" }
  | { kind: "saving" }
  /** A try failed; the next comes at `retryAt` (epoch milliseconds). */
  | { kind: "retrying"; retryAt: number; detail: string }
  /** Somebody wrote it in between: nothing is sent until a side has been chosen. */
  | { kind: "conflict"; detail: string }
  /** It is not sent as it is, and why. */
  | { kind: "held"; reason: string }
  /** The server will not take it as it is (the role was lowered, it was deleted, there is too much of it); the next change tries again. */
  | { kind: "refused"; detail: string };

export interface AutosaveClock {
  now(): number;
  setTimer(run: () => void, ms: number): unknown;
  clearTimer(timer: unknown): void;
}

export interface AutosaveOptions<Work, Saved, Revision> {
  /** By which the server knows what a change is based on. */
  revision: Revision;
  /** The work as it is now. */
  work(): Work;
  /** What was on its way when the page was left. */
  unanswered?: readonly Work[];
  /**
   * Sends it; resolves with what the server keeps. Rejected with CONFLICT when that has another revision.
   * @param unanswered what was sent since the last answer, this too: the server may have any of it, and then nobody else wrote it
   */
  send(work: Work, revision: Revision, unanswered: readonly Work[]): Promise<Saved>;
  revisionOf(saved: Saved): Revision;
  /** Why this may not take the place of what the server has; left out, anything may. */
  holdBack?(work: Work): string | null;
  /** What the server said about a rejected send. */
  errorOf(error: unknown): ErrorBody;
  onState(state: AutosaveState): void;
  onSaved(saved: Saved): void;
  clock?: AutosaveClock;
}

export const AUTOSAVE_DELAY_MS = 800;
const RETRY_SECONDS = [2, 4, 8, 15, 30] as const;
/** How much of what is without an answer is remembered; of more, the latest. */
const MAX_UNANSWERED = 5;

const systemClock: AutosaveClock = {
  now: () => Date.now(),
  setTimer: (run, ms) => setTimeout(run, ms),
  clearTimer: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
};

/** Keeps what the server has equal to the work in the page: a moment after the last change, one send at a time, with retries. */
export function createAutosave<Work, Saved, Revision>(options: AutosaveOptions<Work, Saved, Revision>) {
  const clock = options.clock ?? systemClock;
  let { revision } = options;
  let state: AutosaveState = { kind: "saved" };
  let isChanged = false;
  let failures = 0;
  let timer: unknown;
  let sending: Promise<void> | null = null;
  let isStopped = false;
  let isPaused = false;
  let unanswered: readonly Work[] = options.unanswered ?? [];

  const enter = (next: AutosaveState) => {
    state = next;
    options.onState(next);
  };
  const plan = (ms: number) => {
    clock.clearTimer(timer);
    timer = clock.setTimer(() => void push(), ms);
  };
  const isWaitingForChoice = () => state.kind === "conflict";

  /** Sends what there is to send; resolves when the server has it, or when this try has failed. */
  function push(): Promise<void> {
    clock.clearTimer(timer);
    if (sending) return sending;
    if (!isChanged || isStopped || isPaused || isWaitingForChoice()) return Promise.resolve();
    const work = options.work();
    const reason = options.holdBack?.(work);
    if (reason) {
      enter({ kind: "held", reason });
      return Promise.resolve();
    }
    isChanged = false;
    enter({ kind: "saving" });
    unanswered = [...unanswered, work].slice(-MAX_UNANSWERED);
    sending = options
      .send(work, revision, unanswered)
      .then(succeed, fail)
      .finally(() => {
        sending = null;
      });
    return sending;
  }

  function succeed(saved: Saved) {
    revision = options.revisionOf(saved);
    unanswered = [];
    failures = 0;
    if (isStopped) return;
    options.onSaved(saved);
    if (isChanged) {
      enter({ kind: "changed" });
      plan(AUTOSAVE_DELAY_MS);
    } else enter({ kind: "saved" });
  }

  function fail(error: unknown) {
    isChanged = true;
    if (isStopped) return;
    const { error_code, status, detail } = options.errorOf(error);
    if (error_code === "CONFLICT") return enter({ kind: "conflict", detail });
    const isTemporary = status === 0 || status === 429 || status >= 500;
    if (!isTemporary) return enter({ kind: "refused", detail });
    const seconds = RETRY_SECONDS[Math.min(failures, RETRY_SECONDS.length - 1)] ?? 30;
    failures += 1;
    enter({ kind: "retrying", retryAt: clock.now() + seconds * 1000, detail });
    plan(seconds * 1000);
  }

  return {
    get state() {
      return state;
    },
    get revision() {
      return revision;
    },
    get unanswered() {
      return unanswered;
    },
    /** True while the server does not have what is in the page. */
    get isPending() {
      return isChanged || sending !== null;
    },
    /** Tells that the work has changed. */
    change() {
      isChanged = true;
      if (isWaitingForChoice()) return;
      if (sending) return;
      // A retry that is due soon sends the newest anyway; its countdown stays true.
      if (state.kind === "retrying") return;
      if (state.kind !== "changed") enter({ kind: "changed" });
      plan(AUTOSAVE_DELAY_MS);
    },
    /** Sends at once what is not on the server yet. Resolves with true when the server has everything. */
    async flush(): Promise<boolean> {
      do await push();
      while (isChanged && state.kind === "changed");
      return !isChanged && state.kind === "saved";
    },
    /** Takes `next` as the server's revision: after a save, or when a side of a conflict has been chosen. `isMine`: send ours over it. */
    rebase(next: Revision, isMine: boolean) {
      isPaused = false;
      revision = next;
      unanswered = [];
      failures = 0;
      isChanged = isMine;
      enter({ kind: isMine ? "changed" : "saved" });
      if (isMine) void push();
    },
    /** Sends nothing until `resume` or `rebase`: while it is saved by another way. */
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
      if (isChanged) plan(AUTOSAVE_DELAY_MS);
    },
    /** Takes up again after `stop`. */
    start() {
      isStopped = false;
      if (isChanged) plan(AUTOSAVE_DELAY_MS);
    },
    stop() {
      isStopped = true;
      clock.clearTimer(timer);
    },
  };
}
