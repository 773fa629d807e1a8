import { z } from "zod";
import { createStore } from "zustand/vanilla";
import { type AutosaveClock, type AutosaveState, createAutosave } from "#components/autosave.ts";
import { mergeWidgets } from "#components/canvases/editing/merge.ts";
import { emptyHistory, type History, recordStep, redo, undo } from "#components/undo-history.ts";
import { unsavedCopies } from "#components/unsaved-copy.ts";
import { Canvas, type Widget } from "#server/features/canvases/schema.ts";
import type { ErrorBody } from "#server/shared/error-schema.ts";

/** The server, as far as arranging a canvas needs it. */
export interface CanvasApi {
  read(): Promise<Canvas>;
  /** @throws CONFLICT when the canvas was changed after `unchanged_since` */
  save(widgets: Widget[], unchanged_since: string): Promise<Canvas>;
  errorOf(error: unknown): ErrorBody;
}

export interface EditingState {
  widgets: readonly Widget[];
  history: History<readonly Widget[]>;
  autosave: AutosaveState;
  /** Counts how often somebody else's changes were put together with these. */
  merges: number;
}

const copies = unsavedCopies("treadle.unsaved-canvas.", z.object({ widgets: Canvas.shape.widgets, base: Canvas.shape.widgets }));

/** How often a save is tried again at once when somebody saves at the same time. */
const MAX_MERGES = 3;

type Widgets = readonly Widget[];

/** Widgets as the server gives them back: their fields in the order of the schema. */
const asKept = (widgets: Widgets): string => JSON.stringify(Canvas.shape.widgets.safeParse(widgets).data ?? widgets);

interface SessionOptions {
  canvas: Canvas;
  api: CanvasApi;
  onSaved?: (canvas: Canvas) => void;
  clock?: AutosaveClock;
}

/**
 * A canvas while somebody arranges it: steps that can be taken back, each saved by itself, and what others save meanwhile put
 * together with it. What the server does not have yet is kept in the browser.
 */
export function createEditingSession({ canvas, api, onSaved, clock }: SessionOptions) {
  /** What the server had last, as far as known here. */
  let base: readonly Widget[] = canvas.widgets;
  const copy = copies.read(canvas.id);
  const restored = copy && mergeWidgets(copy.base, copy.widgets, canvas.widgets);
  const isRestored = restored !== null && JSON.stringify(restored) !== JSON.stringify(canvas.widgets);
  if (copy && !isRestored) copies.drop(canvas.id);
  const store = createStore<EditingState>(() => ({
    widgets: isRestored ? restored : canvas.widgets,
    history: emptyHistory,
    autosave: { kind: "saved" },
    merges: 0,
  }));
  const { getState: get, setState: set } = store;

  /** Puts what somebody else has saved and what stands here together, in what can be taken back too. */
  function merge(theirs: Canvas): void {
    const known = base;
    const joined = (widgets: readonly Widget[]) => mergeWidgets(known, widgets, theirs.widgets);
    const { past, future } = get().history;
    const steps = (all: typeof past) => all.map(({ name, document }) => ({ name, document: joined(document) }));
    base = theirs.widgets;
    // A new name, or a link to it, is none of what is arranged here.
    const isNews = JSON.stringify(known) !== JSON.stringify(base);
    set((state) => ({
      widgets: joined(state.widgets),
      history: { past: steps(past), future: steps(future), burst: null },
      merges: state.merges + (isNews ? 1 : 0),
    }));
  }

  async function send(widgets: Widgets, since: string, unanswered: readonly Widgets[], tries = 0): Promise<Canvas> {
    try {
      const saved = await api.save([...widgets], since);
      if (get().widgets === widgets) copies.drop(canvas.id);
      return saved;
    } catch (error) {
      if (api.errorOf(error).error_code !== "CONFLICT" || tries === MAX_MERGES) throw error;
      const theirs = await api.read();
      // Sent from here, and its answer was lost: nothing to put together, and still one's own to take back.
      if (unanswered.some((sent) => asKept(sent) === asKept(theirs.widgets))) base = theirs.widgets;
      merge(theirs);
      return send(get().widgets, theirs.updated_at, unanswered, tries + 1);
    }
  }

  const autosave = createAutosave<Widgets, Canvas, string>({
    revision: canvas.updated_at,
    work: () => get().widgets,
    send,
    revisionOf: ({ updated_at }) => updated_at,
    errorOf: api.errorOf,
    onState(state) {
      set({ autosave: state });
      if (state.kind !== "saving" && state.kind !== "saved") copies.keep(canvas.id, { widgets: [...get().widgets], base: [...base] });
    },
    onSaved(saved) {
      base = saved.widgets;
      onSaved?.(saved);
    },
    ...(clock && { clock }),
  });

  const put = (change: Partial<EditingState>) => {
    set(change);
    autosave.change();
  };
  return {
    store,
    isRestored,
    /**
     * Makes one step.
     * @param name what is done, for "Undo: move Revenue"
     * @param key steps with the same key in quick succession become one
     */
    edit(name: string, widgets: readonly Widget[], key?: string): void {
      const { widgets: before, history } = get();
      if (JSON.stringify(widgets) === JSON.stringify(before)) return;
      put({ widgets, history: recordStep(history, name, before, Date.now(), key) });
    },
    /** Takes the last step back; its name, or null when there is none. */
    undo(): string | null {
      const { widgets, history } = get();
      const taken = undo(history, widgets);
      if (taken) put({ widgets: taken.step.document, history: taken.history });
      return taken?.step.name ?? null;
    },
    redo(): string | null {
      const { widgets, history } = get();
      const taken = redo(history, widgets);
      if (taken) put({ widgets: taken.step.document, history: taken.history });
      return taken?.step.name ?? null;
    },
    /** Takes over what somebody else has saved; what is not saved here yet is put together with it when it is. */
    take(theirs: Canvas): void {
      if (theirs.updated_at <= autosave.revision || autosave.isPending) return;
      merge(theirs);
      autosave.rebase(theirs.updated_at, false);
    },
    /** Resolves with true once the server has everything. */
    flush: () => autosave.flush(),
    start(): void {
      autosave.start();
      if (isRestored) autosave.change();
    },
    /** Sends what is left, once, and then nothing any more. */
    stop(): void {
      void autosave.flush();
      autosave.stop();
    },
  };
}
