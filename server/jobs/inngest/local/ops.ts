import { z } from "zod";
import { waitKey } from "#server/jobs/inngest/local/cel.ts";
import { dueAt, retryAt } from "#server/jobs/inngest/local/clock.ts";
import { messageOf } from "#server/platform/errors.ts";

// What the SDK reports, in a 206 and in checkpoints.
const Op = z.looseObject({
  op: z.string(),
  id: z.string(),
  name: z.string().nullish(),
  data: z.unknown().optional(),
  error: z.unknown().optional(),
  opts: z.looseObject({ timeout: z.string().nullish(), if: z.string().nullish(), parallelMode: z.string().nullish() }).nullish(),
});
type Op = z.infer<typeof Op>;
const Ops = z.array(Op);

/** @throws ZodError when the text is not a list of operations */
export const parseOps = (text: string): Op[] => Ops.parse(JSON.parse(text));
/** @throws ZodError */
export const opsOf = (value: unknown): Op[] => Ops.parse(value);

/** A row for the SQL function `apply`; times in milliseconds since 1970, data as JSON text. */
export interface StepChange {
  id: string;
  state: "planned" | "sleep" | "wait" | "data" | "error";
  data?: string;
  attempt?: number;
  due?: number;
  race?: boolean;
  event?: string;
  key?: string;
  exact?: boolean;
  expr?: string | undefined;
}

export interface CallContext {
  /** The event of the run, parsed only when a wait refers to it. */
  event(): unknown;
  now: number;
  /** Number of the attempt this call was, from 0, and how many there may be. */
  attempt: number;
  maxAttempts: number;
  retryAfter: string | null;
  /** True when the SDK does not want parallel steps to wait for each other. */
  race: boolean;
}

/** What a call of the handler means for the run. */
export interface Changes {
  steps: StepChange[];
  end?: { status: "completed" | "failed"; output: string };
  /** The function itself failed outside a step and is called again. */
  failed?: { error: string };
}

// sha1("complete"): the SDK's id for the function's own end among operations.
const COMPLETE = "0737c22d3bfae812339732d14d8c7dbd6dc4e09c";

const text = (value: unknown): string => JSON.stringify(value ?? null);

/** The JSON of an error for the SDK and for onFailure: {name, message, stack}. */
export function errorText(error: unknown): string {
  if (error && typeof error === "object") return text(error);
  return text({ name: "Error", message: typeof error === "string" ? error : "Unknown error", stack: "" });
}

function stepOf(op: Op, context: CallContext): StepChange | undefined {
  const race = context.race || op.opts?.parallelMode === "race";
  switch (op.op) {
    case "StepRun":
    case "Step":
      return { id: op.id, state: "data", data: text(op.data), race };
    case "StepFailed":
      return { id: op.id, state: "error", data: errorText(op.error ?? op.data), race };
    case "StepError":
      if (context.attempt + 1 >= context.maxAttempts) return { id: op.id, state: "error", data: errorText(op.error), race };
      return {
        id: op.id,
        state: "planned",
        attempt: context.attempt + 1,
        due: retryAt(context.attempt, context.retryAfter, context.now),
        race,
      };
    case "StepPlanned":
      return { id: op.id, state: "planned", attempt: 0, due: context.now, race };
    case "Sleep":
      return { id: op.id, state: "sleep", due: dueAt(op.name ?? "", context.now), race };
    case "WaitForEvent": {
      const expr = op.opts?.if ?? undefined;
      const key = waitKey(expr, expr?.includes("event.") ? context.event() : undefined);
      return { id: op.id, state: "wait", due: dueAt(op.opts?.timeout ?? "", context.now), event: op.name ?? "", ...key, expr, race };
    }
    case "DeferAdd":
    case "DeferAbort":
    case "DiscoveryRequest":
      return undefined;
    default:
      throw new Error(`The embedded executor does not support the step operation ${op.op}.`);
  }
}

/** Reads a list of operations. An operation that is not supported fails the run with a sentence that names it. */
export function changesOf(ops: Op[], context: CallContext): Changes {
  const changes: Changes = { steps: [] };
  for (const op of ops) {
    if (op.op === "RunComplete") changes.end = { status: "completed", output: text(op.data) };
    else if (op.id === COMPLETE && op.op === "StepFailed") changes.end = { status: "failed", output: errorText(op.error) };
    else if (op.id === COMPLETE && op.op === "StepError") changes.failed = { error: errorText(op.error) };
    else {
      try {
        const step = stepOf(op, context);
        if (step) changes.steps.push(step);
      } catch (error) {
        changes.end = {
          status: "failed",
          output: errorText({ name: "Error", message: messageOf(error), stack: "" }),
        };
      }
    }
  }
  return changes;
}
