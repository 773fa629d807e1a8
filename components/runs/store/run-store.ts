import { createStore } from "zustand/vanilla";
import type { LineState } from "#components/event-line.ts";
import { applyEvent, type RunSnapshot, snapshotOf } from "#components/runs/store/run-snapshot.ts";
import { followRun, type RunStreamOptions } from "#components/runs/store/run-stream.ts";
import type { ExecutionView } from "#server/runs/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";
import { dictionary } from "#server/shared/json-text.ts";

export interface RunState {
  executionId: string | null;
  snapshot: RunSnapshot | null;
  /** The API's answer that the snapshot began with; its graph is what runs. */
  view: ExecutionView | null;
  line: LineState | null;
  /** Items that the reader looks at, by loop; of a loop that is not named, the latest. */
  picked: Readonly<Record<string, number>>;
  /** In the editor: nodes whose result here no longer holds for what is on the canvas, with the reason as a sentence. */
  stale: Readonly<Record<string, string>>;
  /** In the editor: the canvas says something else than the graph of this run. */
  isOtherGraph: boolean;
  /** The nodes at whose reviews the reader types, by review: the last one stays in view, whatever the run does meanwhile. */
  typedAt: ReadonlyMap<string, string>;
  /** Keeps a review's node in view; with null no longer. */
  hold(reviewId: string, nodeId: string | null): void;
  /** Looks at one item of a loop; null at the latest again. */
  pick(loopId: string, index: number | null): void;
  /** Shows this execution, and follows it when it has not ended. */
  show(view: ExecutionView): void;
  /** Shows nothing. */
  clear(): void;
}

export type RunStore = ReturnType<typeof createRunStore>;

export interface RunStoreOptions {
  /** Called once when a followed run ends. */
  onEnd?: (executionId: string) => void;
  follow?: (options: RunStreamOptions) => () => void;
  /** Runs the work at the next frame; events in between are drawn at once, however fast they come. */
  schedule?: (work: () => void) => void;
}

/** One run on the screen. */
export function createRunStore({ onEnd, follow = followRun, schedule = (work) => requestAnimationFrame(work) }: RunStoreOptions = {}) {
  let hangUp = () => {};
  return createStore<RunState>()((set, get) => ({
    executionId: null,
    snapshot: null,
    view: null,
    line: null,
    picked: dictionary(),
    stale: dictionary(),
    isOtherGraph: false,
    typedAt: new Map(),
    hold(reviewId, nodeId) {
      const typedAt = new Map(get().typedAt);
      if (!typedAt.delete(reviewId) && nodeId === null) return;
      if (nodeId !== null) typedAt.set(reviewId, nodeId);
      set({ typedAt });
    },
    pick(loopId, index) {
      const { [loopId]: _, ...others } = get().picked;
      set({ picked: dictionary(others, index === null ? {} : { [loopId]: index }) });
    },
    show(view) {
      hangUp();
      const executionId = view.execution.id;
      const current = get();
      // A newer answer about the same run must not lose what has arrived on the line since.
      const base = snapshotOf(view.execution, view.last_event_id, view);
      // What had come of an answer that was stopped is written a moment after its run has ended.
      if (current.executionId === executionId)
        for (const [id, node] of Object.entries(base.nodes)) {
          const arriving = current.snapshot?.nodes[id]?.arriving;
          if (node.stopped && node.output === null && arriving) base.nodes[id] = { ...node, arriving };
        }
      const snapshot = current.executionId === executionId && current.snapshot && !isFinal(view.execution.status) ? current.snapshot : base;
      set({
        executionId,
        view,
        snapshot,
        line: null,
        ...(current.executionId !== executionId && { picked: dictionary(), stale: dictionary(), isOtherGraph: false, typedAt: new Map() }),
      });
      if (isFinal(view.execution.status)) return;
      let waiting: RunSnapshot | null = null;
      hangUp = follow({
        executionId,
        after: snapshot.last_event_id,
        onLine: (line) => get().executionId === executionId && set({ line }),
        onEvent(id, event) {
          const before = waiting ?? get().snapshot;
          if (!before || get().executionId !== executionId) return;
          const isFirst = waiting === null;
          waiting = applyEvent(before, id, event);
          const flush = () => {
            if (waiting && get().executionId === executionId) set({ snapshot: waiting });
            waiting = null;
          };
          if (isFinal(waiting.status)) {
            flush();
            onEnd?.(executionId);
          } else if (isFirst) schedule(flush);
        },
      });
    },
    clear() {
      hangUp();
      set({ executionId: null, snapshot: null, view: null, line: null, picked: dictionary(), stale: dictionary(), isOtherGraph: false });
    },
  }));
}
