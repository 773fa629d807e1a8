import { AsyncLocalStorage } from "node:async_hooks";

const current = new AsyncLocalStorage<string>();

/** The id that a run gets which the request under way starts, when the request has an Idempotency-Key: the same for every try of it. */
export const runIdOfRequest = (): string | undefined => current.getStore();

/** Does `work` with this id for the run that it starts. */
export const withRunId = <Result>(run_id: string, work: () => Promise<Result>): Promise<Result> => current.run(run_id, work);
