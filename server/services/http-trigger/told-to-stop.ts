const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

const listeners = new Set<() => void>();
let isTold = false;
const tell = () => {
  isTold = true;
  for (const listener of listeners) listener();
};

/**
 * Calls back when this process is told to stop. server/main.ts acts on the signals itself; code that the web app has bundled
 * shares nothing else with it.
 * @returns how to be told no more
 */
export function onToldToStop(listener: () => void): () => void {
  if (isTold) {
    listener(); // a call that came in on a connection which is still open
    return () => undefined;
  }
  // One listener for all who wait, and none while nobody does: they come and go with each request.
  if (listeners.size === 0) for (const signal of SIGNALS) process.on(signal, tell);
  listeners.add(listener);
  return () => {
    if (listeners.delete(listener) && listeners.size === 0) for (const signal of SIGNALS) process.off(signal, tell);
  };
}
