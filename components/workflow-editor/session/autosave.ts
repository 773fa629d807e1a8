import type { WorkflowDraft } from "#server/features/workflows/schema.ts";
import type { ErrorBody } from "#server/shared/error-schema.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** How the draft stands. */
export type AutosaveState =
  | { kind: "saved" }
  | { kind: "changed" }
  | { kind: "saving" }
  /** A try failed; the next comes at `retryAt` (epoch milliseconds). */
  | { kind: "retrying"; retryAt: number; detail: string }
  /** Somebody wrote the draft in between: nothing is sent until a side has been chosen. */
  | { kind: "conflict"; detail: string }
  /** The graph is not sent as it is, and why. */
  | { kind: "held"; reason: string }
  /** The server will not take it as it is (the role was lowered, the workflow deleted, too many nodes); the next change tries again. */
  | { kind: "refused"; detail: string };

export interface AutosaveClock {
  now(): number;
  setTimer(run: () => void, ms: number): unknown;
  clearTimer(timer: unknown): void;
}

export interface AutosaveOptions {
  revision: number;
  /** The graph as it is now. */
  graph(): Graph;
  /** Sends it; resolves with the draft that the server keeps. */
  send(graph: Graph, revision: number): Promise<WorkflowDraft>;
  /** What the server said about a rejected send. */
  errorOf(error: unknown): ErrorBody;
  onState(state: AutosaveState): void;
  onSaved(draft: WorkflowDraft): void;
  clock?: AutosaveClock;
}

export const AUTOSAVE_DELAY_MS = 800;
const RETRY_SECONDS = [2, 4, 8, 15, 30] as const;

const systemClock: AutosaveClock = {
  now: () => Date.now(),
  setTimer: (run, ms) => setTimeout(run, ms),
  clearTimer: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
};

/** Why a graph may not take a draft's place, or null: a canvas that lost its nodes by a fault must not wipe the work. */
export function validateDraft(graph: Graph): string | null {
  if (graph.nodes.length === 0) return "The canvas is empty, so the draft on the server is kept as it was.";
  if (!graph.nodes.some((node) => node.type === "triggerNode"))
    return "The trigger is missing, so the draft on the server is kept as it was. Undo, or reload the page.";
  return null;
}

/** Keeps the draft on the server equal to the canvas: a moment after the last change, one send at a time, with retries. */
export function createAutosave(options: AutosaveOptions) {
  const clock = options.clock ?? systemClock;
  let { revision } = options;
  let state: AutosaveState = { kind: "saved" };
  let isChanged = false;
  let failures = 0;
  let timer: unknown;
  let sending: Promise<void> | null = null;
  let isStopped = false;
  let isPaused = false;

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
    const graph = options.graph();
    const reason = validateDraft(graph);
    if (reason) {
      enter({ kind: "held", reason });
      return Promise.resolve();
    }
    isChanged = false;
    enter({ kind: "saving" });
    sending = options
      .send(graph, revision)
      .then(succeed, fail)
      .finally(() => {
        sending = null;
      });
    return sending;
  }

  function succeed(draft: WorkflowDraft) {
    revision = draft.revision;
    failures = 0;
    if (isStopped) return;
    options.onSaved(draft);
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
    /** True while the server does not have what is on the canvas. */
    get isPending() {
      return isChanged || sending !== null;
    },
    /** Tells that the canvas has changed. */
    change() {
      isChanged = true;
      if (isWaitingForChoice()) return;
      if (sending) return;
      // A retry that is due soon sends the newest graph anyway; its countdown stays true.
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
    /** Takes `next` as the server's revision: after a save, or when a side of a conflict has been chosen. `isMine`: send the canvas over it. */
    rebase(next: number, isMine: boolean) {
      isPaused = false;
      revision = next;
      failures = 0;
      isChanged = isMine;
      enter({ kind: isMine ? "changed" : "saved" });
      if (isMine) void push();
    },
    /** Sends nothing until `resume` or `rebase`: while a save writes the draft by another way. */
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
