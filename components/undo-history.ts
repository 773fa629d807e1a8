// What was done, so that it can be taken back: steps with the document on their other side. Pure.

/** How many steps can be taken back. */
export const HISTORY_LIMIT = 50;
/** Edits of one kind closer together than this many milliseconds are one step: keys in a field, arrow keys on a node. */
export const BURST_MS = 1000;

export interface HistoryStep<Document> {
  /** What was done, for "Undo: move Research". */
  name: string;
  /** The document on the other side of the step. */
  document: Document;
}

export interface History<Document> {
  past: HistoryStep<Document>[];
  future: HistoryStep<Document>[];
  /** The burst that further edits of the same kind join. */
  burst: { key: string; at: number } | null;
}

export const emptyHistory: History<never> = { past: [], future: [], burst: null };

/**
 * Notes that `before` is about to change.
 * @param key edits with the same key in quick succession become one step; left out, each edit is a step
 */
export function recordStep<Document>(
  history: History<Document>,
  name: string,
  before: Document,
  now: number,
  key?: string,
): History<Document> {
  const joins = key !== undefined && history.burst?.key === key && now - history.burst.at < BURST_MS && history.future.length === 0;
  const burst = key === undefined ? null : { key, at: now };
  if (joins) return { ...history, burst };
  return { past: [...history.past, { name, document: before }].slice(-HISTORY_LIMIT), future: [], burst };
}

/** One step back, or null when there is none. */
export function undo<Document>(
  history: History<Document>,
  current: Document,
): { history: History<Document>; step: HistoryStep<Document> } | null {
  const step = history.past.at(-1);
  if (!step) return null;
  return {
    step,
    history: { past: history.past.slice(0, -1), future: [{ name: step.name, document: current }, ...history.future], burst: null },
  };
}

/** One step forward again, or null when there is none. */
export function redo<Document>(
  history: History<Document>,
  current: Document,
): { history: History<Document>; step: HistoryStep<Document> } | null {
  const [step, ...future] = history.future;
  if (!step) return null;
  return { step, history: { past: [...history.past, { name: step.name, document: current }].slice(-HISTORY_LIMIT), future, burst: null } };
}
