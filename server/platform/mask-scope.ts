import { AsyncLocalStorage } from "node:async_hooks";

// Which secrets the work at hand must not tell: for what is far from those who know them, such as the log, and an error
// that quotes somebody's words and cuts them short.

const scope = new AsyncLocalStorage<(text: string) => string>();

/** Does something under which `masked` takes out what `mask` does. */
export const withMask = <Result>(mask: (text: string) => string, work: () => Result): Result => scope.run(mask, work);

/** The text without the secrets that the work at hand has read. */
export const masked = (text: string): string => scope.getStore()?.(text) ?? text;
