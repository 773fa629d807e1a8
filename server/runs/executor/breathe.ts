/** Nodes between two breaths of the event loop, which renews the lease among other things. */
const BREATH = 50;

/** Lets everything else of the process have its turn, once in a while. */
export async function breathe(count: number): Promise<void> {
  if (count % BREATH === 0) await new Promise((resolve) => setImmediate(resolve));
}
