const listeners = new Set<() => void>();
let isTold = false;

/** Tells everybody who waits that this process is to end. */
export function requestShutdown(): void {
  isTold = true;
  for (const listener of listeners) listener();
}

/**
 * Calls back when this process is told to stop; at once when it was, for a call that came in on a connection which is still open.
 * @returns how to be told no more
 */
export function onShutdown(listener: () => void): () => void {
  if (isTold) listener();
  else listeners.add(listener);
  return () => void listeners.delete(listener);
}
