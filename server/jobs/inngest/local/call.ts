import { type Changes, changesOf, errorText, parseOps } from "#server/jobs/inngest/local/ops.ts";
import { messageOf } from "#server/platform/errors.ts";

/** [id, state, data as JSON text, attempt, due in ms since 1970, race, order of completion] */
export type StepRow = [
  string,
  "planned" | "sleep" | "wait" | "data" | "error",
  string | null,
  number,
  number | null,
  boolean,
  number | null,
];

export interface CallInput {
  runId: string;
  fnId: string;
  /** The event as JSON text. */
  event: string;
  /** The step to run, or undefined to run the function until it meets something new. */
  stepId: string | undefined;
  /** Memoized steps in the order in which they were completed. */
  memo: Iterable<StepRow>;
  attempt: number;
  maxAttempts: number;
  /** Something else of the run is open, so steps must be reported and not run at once. */
  planOnly: boolean;
  /** Names the lease to the checkpoint call. */
  lease: string;
}

const ORIGIN = "http://inngest.local";

function body(input: CallInput): string {
  const order: string[] = [];
  let steps = "";
  for (const [id, state, data] of input.memo) {
    steps += `${steps && ","}${JSON.stringify(id)}:${state === "data" ? `{"type":"data","data":${data}}` : `{"type":"error","error":${data}}`}`;
    order.push(id);
  }
  const ctx = {
    run_id: input.runId,
    fn_id: input.fnId,
    qi_id: input.lease,
    attempt: input.attempt,
    max_attempts: input.maxAttempts,
    disable_immediate_execution: input.planOnly,
    use_api: false,
    stack: { stack: order, current: order.length - 1 },
  };
  // The event and the steps are JSON text already; parsing them only to write them again would cost more than the rest.
  return `{"version":-1,"event":${input.event},"events":[${input.event}],"steps":{${steps}},"ctx":${JSON.stringify(ctx)}}`;
}

/**
 * Calls the SDK's handler once and reads its answer. A handler that throws counts as a failed attempt.
 * @param now the time when the answer is read, in milliseconds since 1970
 */
export async function callHandler(
  handler: (request: Request) => Promise<Response>,
  input: CallInput,
  now: () => number,
): Promise<Changes & { retryAfter: string | null }> {
  let response: Response;
  let text: string;
  try {
    response = await handler(
      new Request(`${ORIGIN}/api/inngest?fnId=${encodeURIComponent(input.fnId)}&stepId=${input.stepId ?? "step"}`, {
        method: "POST",
        headers: { host: "inngest.local", "content-type": "application/json" },
        body: body(input),
      }),
    );
    text = await response.text();
  } catch (error) {
    return {
      steps: [],
      failed: { error: errorText({ name: "Error", message: messageOf(error), stack: "" }) },
      retryAfter: null,
    };
  }
  const retryAfter = response.headers.get("retry-after");
  if (response.status === 200) return { steps: [], end: { status: "completed", output: text || "null" }, retryAfter };
  if (response.status === 206) {
    const context = {
      event: (): unknown => JSON.parse(input.event),
      now: now(),
      attempt: input.attempt,
      maxAttempts: input.maxAttempts,
      retryAfter,
      race: response.headers.get("x-inngest-req-version") === "1",
    };
    return { ...changesOf(parseOps(text), context), retryAfter };
  }
  let error: string;
  try {
    error = errorText(JSON.parse(text));
  } catch {
    error = errorText(`The handler answered ${response.status}.`);
  }
  if (response.headers.get("x-inngest-no-retry") === "true") return { steps: [], end: { status: "failed", output: error }, retryAfter };
  return { steps: [], failed: { error }, retryAfter };
}
