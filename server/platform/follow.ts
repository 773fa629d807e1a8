/**
 * Aborts a controller with the reason of a signal when that fires, at once when it has fired. It stands where
 * `AbortSignal.any` would on the ways that every run takes: a signal made by that is reached through weak references only,
 * which a collection of young objects takes for strong, so that everything around each run grew old in memory.
 * @returns how to stop following, for a signal that outlives the controller
 */
export function follow(controller: AbortController, signal: AbortSignal): () => void {
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return () => signal.removeEventListener("abort", abort);
}
