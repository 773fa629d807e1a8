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

/** What `work` comes to. Rejects with the signal's reason as soon as that fires, also when the work does not listen to it. */
export async function orAborted<Value>(work: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (!signal) return work;
  const aborted = Promise.withResolvers<never>();
  const stop = () => aborted.reject(signal.reason);
  // What is left behind still fails or is aborted, and concerns nobody.
  for (const promise of [work, aborted.promise]) promise.catch(() => undefined);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([aborted.promise, work]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Error of a connection that a signal has ended, in the form that Node gives it. */
export class AbortError extends Error {
  readonly code = "ABORT_ERR";
  override readonly name = "AbortError";

  constructor(cause: unknown) {
    super("The operation was aborted", { cause });
  }
}
