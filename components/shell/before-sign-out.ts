type Task = () => Promise<unknown>;

const tasks = new Set<Task>();

/** Has something done while one is still signed in, such as sending what was held back. @returns takes that back */
export function beforeSignOut(task: Task): () => void {
  tasks.add(task);
  return () => void tasks.delete(task);
}

/** Does all of it; what fails holds nobody up. */
export const finishBeforeSignOut = (): Promise<unknown> => Promise.allSettled([...tasks].map((task) => task()));
