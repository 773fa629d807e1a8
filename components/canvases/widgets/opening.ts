/** What somebody clicked at: the run that it comes from. */
export interface Opening {
  execution_id: string;
  completed_at: string;
  /** What was clicked, in words: `21 Nov 2026: 12 €`. */
  what: string;
  /** The run that gave the value before, where the widget knows it. */
  before?: string | undefined;
}

interface From {
  execution_id: string | null;
  completed_at: string;
}

/** How a value opens its trail; undefined where it does not, as on a shared page. */
export function opening(from: From | undefined, what: string, earlier: readonly From[] = []): Opening | undefined {
  if (!from?.execution_id) return undefined;
  const before = earlier.findLast(({ execution_id }) => execution_id !== null && execution_id !== from.execution_id)?.execution_id;
  return { execution_id: from.execution_id, completed_at: from.completed_at, what, ...(before && { before }) };
}
