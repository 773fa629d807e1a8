import { NonRetriableError } from "inngest";
import type { Logger } from "pino";

/**
 * Ends the function of an execution that has failed, so that an Inngest server shows it as failed and does not try it again.
 * Nothing of what happened leaves the house with it.
 */
export class ExecutionFailed extends NonRetriableError {
  constructor() {
    super("The execution failed. Its page in Treadle tells why.");
    this.stack = "";
  }
}

type Say = (about: object, message?: string) => void;

/** What the SDK logs of functions, without executions that have failed: those are told of where they are shown, and no fault of ours. */
export function functionLog(log: Logger): Record<"debug" | "info" | "warn" | "error", Say> & { child(bindings: object): unknown } {
  return {
    debug: log.debug.bind(log),
    info: log.info.bind(log),
    warn: log.warn.bind(log),
    error: (about, ...rest) => {
      if (!("err" in about && about.err instanceof ExecutionFailed)) log.error(about, ...rest);
    },
    child: (bindings) => functionLog(log.child(bindings)),
  };
}
