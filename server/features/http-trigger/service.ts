import type { HttpTriggerError, HttpTriggerResult } from "#server/features/http-trigger/schema.ts";
import { assertRunnable } from "#server/features/workflows/execute.ts";
import type { SavedWorkflow } from "#server/features/workflows/saved-workflow.ts";
import { follow } from "#server/platform/abort.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { Bell } from "#server/platform/bell.ts";
import { cleanText, parseCleanJson } from "#server/platform/clean-text.ts";
import { subscribe } from "#server/platform/db/notify.ts";
import type { DeferredTexts } from "#server/platform/deferred-texts.ts";
import { AppError, ERRORS, isAppError, notFound } from "#server/platform/errors.ts";
import { type RequestContent, readContent } from "#server/platform/net/request-content.ts";
import { visibleEntries } from "#server/platform/net/visible-headers.ts";
import { newId } from "#server/platform/new-id.ts";
import { runIdOfRequest } from "#server/platform/rpc/idempotency.ts";
import { onShutdown } from "#server/platform/shutdown.ts";
import type { NewExecution } from "#server/runs/store/create.ts";
import { type RunEnding, readEnding } from "#server/runs/store/executions.ts";
import { recordRefusedRun } from "#server/runs/store/refused-runs.ts";
import { starterOf } from "#server/runs/use-cases/run-scope.ts";
import { startExecution, startRun } from "#server/runs/use-cases/start-execution.ts";
import { isFinal } from "#server/shared/execution-status.ts";
import { JsonTooComplex } from "#server/shared/json-depth.ts";
import { parseJson } from "#server/shared/json-text.ts";
import { shorten } from "#server/shared/shorten.ts";
import { bodyText } from "#server/workflow/trigger-fields.ts";

interface HttpCallRequest {
  method: string;
  url: string;
  headers: Headers;
  /** Headers with each value of a repeated name apart; left out, `headers`. */
  headerEntries?: Iterable<[string, string]>;
}

interface CallValues {
  input: string;
  raw?: string;
}

const SAYS_JSON = /^\s*application\/(?:[^;]+\+)?json\s*(?:;|$)/i;

/**
 * A body as JSON when it is JSON or a form, else as text; null without one.
 * @throws AppError BAD_REQUEST for what is declared as JSON and is none; VALIDATION_ERROR for what is declared as JSON and is too complex
 */
function bodyOf({ json, raw }: RequestContent, type: string): unknown {
  if (raw === "") return null;
  const text = raw ?? json;
  try {
    return parseCleanJson(json, parseJson);
  } catch (cause) {
    if (cause instanceof JsonTooComplex && SAYS_JSON.test(type))
      throw new AppError("VALIDATION_ERROR", `The body is too complex. ${cause.message}`, { cause });
    if (!SAYS_JSON.test(type) || text.trim() === "") return cleanText(text);
    const message = "The body is declared as JSON and cannot be read as such. Check it, or declare it as text/plain.";
    throw new AppError("BAD_REQUEST", message, { cause });
  }
}

/**
 * What an HTTP trigger gives (specification, Trigger output expressions): the call as JSON text, with method, headers,
 * query and body. Keys, cookies and whatever else looks like a secret in headers or query are left out.
 * @returns with `raw`, the text of the body, where the input alone does not give it
 * @throws AppError BAD_REQUEST for a body that is declared as JSON and is none; what `readContent` throws
 */
export async function readCall(call: HttpCallRequest, bytes: Uint8Array): Promise<CallValues> {
  const { method, url, headers, headerEntries = headers } = call;
  const content = await readContent(headers, bytes);
  const body = bodyOf(content, headers.get("content-type") ?? "");
  const query = visibleEntries(new URL(url).searchParams);
  const input = JSON.stringify({ method, headers: visibleEntries(headerEntries), query, body });
  const raw = content.raw && cleanText(content.raw);
  return { input, ...(raw && raw !== bodyText(body) && { raw }) };
}

/** Longest output that is taken from the run itself and not read again, in characters. */
const MAX_READ_LENGTH = 64 * 1024;
/** How long to trust that every notification arrives, in milliseconds. */
const LOOK_AGAIN_MS = 5000;
/** A run that goes on for longer is looked at less often than its agents' pieces are notified, in milliseconds. */
const LONGEST_PAUSE_MS = 200;

/** How long it waits on when the process is told to stop, in milliseconds: the way down cuts what is open after eight seconds. */
const STOPPING_MS = 5000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Starts a run and waits until it has ended or pauses at a review, at most `ms`; not while the executor that is to run it
 * is away, and not until a process that is told to stop cuts the caller off: whoever has no answer calls again, and there
 * would be two runs. Listens before it starts, so that a quick run costs one query more than not waiting.
 * @param signal ends the wait when the caller has gone; the run goes on
 * @param texts takes a long output out
 * @throws AppError as `startExecution` does
 */
export async function startAndFollow(
  execution: NewExecution,
  ms: number,
  signal: AbortSignal,
  texts?: DeferredTexts,
): Promise<RunEnding & { execution_id: string }> {
  const execution_id = execution.id ?? runIdOfRequest() ?? newId();
  const given = new AbortController();
  const unfollow = follow(given, signal);
  const bell = new Bell(given.signal);
  /** Rings only when nobody waits any more. */
  const over = new Bell(given.signal);
  const stop = await subscribe("treadle_execution", execution_id, () => bell.ring());
  let timer: ReturnType<typeof setTimeout> | undefined;
  const leave = onShutdown(() => (timer ??= setTimeout(() => given.abort(), STOPPING_MS)));
  try {
    const { status, ending, dispatched } = await startRun({ ...execution, id: execution_id });
    // A run that nobody is asked for now will not end while the caller waits.
    void dispatched?.then((isTaken) => isTaken || given.abort());
    const end = Date.now() + ms;
    if (ending) {
      // What this process runs itself it need not read, whatever else is told of the run meanwhile.
      const told = await Promise.race([ending, over.rung(ms)]);
      if (told && (!texts || (told.output?.length ?? 0) <= MAX_READ_LENGTH)) return { execution_id, ...told };
      const stored = told && (await readEnding(execution_id, texts));
      if (told) return { execution_id, ...(stored && isFinal(stored.status) ? stored : told) };
      bell.ring();
    }
    let seen: RunEnding = { status, output: null, error: null };
    for (let reads = 0; !signal.aborted; reads++) {
      const left = given.signal.aborted ? 0 : end - Date.now();
      if (reads > 1) await pause(Math.min(10 * reads, LONGEST_PAUSE_MS));
      await bell.rung(Math.min(LOOK_AGAIN_MS, Math.max(1, left)));
      seen = (await readEnding(execution_id, texts)) ?? seen;
      if (left <= 0 || isFinal(seen.status) || seen.status === "paused") break;
    }
    return { execution_id, ...seen };
  } finally {
    for (const waited of [bell, over]) waited.ring(); // ends a wait that nobody waits for any more
    clearTimeout(timer);
    leave();
    unfollow();
    stop();
  }
}

/** How long a synchronous call waits, in milliseconds (contract, section 4). */
const WAIT_MS = 60_000;

/**
 * Makes sure that a workflow is started by HTTP calls.
 * @throws AppError NOT_FOUND in another project; VALIDATION_ERROR for another kind of trigger
 */
export function assertHttpTrigger({ project }: ProjectPrincipal, { project_id, trigger }: SavedWorkflow): void {
  if (project_id !== project.id) throw notFound("workflow");
  if (trigger.kind !== "http")
    throw new AppError(
      "VALIDATION_ERROR",
      "This workflow's trigger is not HTTP. Choose HTTP in its trigger node and save, or use its execute endpoint.",
    );
}

/** Characters of a run's error in a response. */
const MAX_DETAIL_LENGTH = 2000;

function errorOf(execution_id: string, { status, error }: RunEnding, error_status: number | undefined): HttpTriggerError {
  const error_code = status === "rejected" ? "CONFLICT" : "UPSTREAM_ERROR";
  const detail =
    status === "failed" ? `The run failed: ${error ?? "no reason is known."}` : `The run was ${status}. Open it by its id to see why.`;
  return {
    detail: shorten(detail, MAX_DETAIL_LENGTH),
    error_code,
    status: error_status ?? ERRORS[error_code].status,
    execution_id,
    run_status: status,
  };
}

interface CallOptions {
  /** Ends the wait, not the run. */
  signal: AbortSignal;
  waitMs?: number;
  /** Takes a long output out. */
  texts?: DeferredTexts;
  /** Text of the body where the input alone does not give it. */
  raw?: string | undefined;
}

async function start(run: NewExecution, { enabled, agents, trigger }: SavedWorkflow, { signal, waitMs = WAIT_MS, texts }: CallOptions) {
  if (!enabled) throw new AppError("CONFLICT", "This workflow is disabled. Enable it, then call again.");
  const names = run.graph && (await assertRunnable(run.project_id, run.graph, agents));
  const execution = { ...run, ...(names && { names }) };
  if (trigger.response_mode === "async") return startExecution(execution);
  return startAndFollow(execution, waitMs, signal, texts);
}

/**
 * Starts the saved version with a call as its input, and waits for the result when the trigger says so. A call that cannot start
 * a run leaves a failed execution.
 * @param input method, headers, query and body as JSON
 * @returns with `output` when the run has completed, an error body when it ended otherwise, the id alone while it goes on
 * @throws AppError CONFLICT for a disabled workflow and a project over its storage quota; VALIDATION_ERROR when the graph has
 *   problems; RATE_LIMIT_EXCEEDED when the hourly limit is reached
 */
export async function runHttpTrigger(
  principal: ProjectPrincipal,
  workflow: SavedWorkflow,
  input: string,
  options: CallOptions,
): Promise<HttpTriggerResult | HttpTriggerError> {
  assertHttpTrigger(principal, workflow);
  const { raw } = options;
  const { project_id, id: workflow_id, snapshot_id, version: workflow_version, graph } = workflow;
  const id = runIdOfRequest();
  const of = { project_id, workflow_id, workflow_version, snapshot_id, graph, ...(id !== undefined && { id }) };
  const run: NewExecution = { ...of, trigger: "http", ...starterOf(principal), input, params: raw === undefined ? null : { raw } };
  try {
    const { execution_id, ...seen } = await start(run, workflow, options);
    const ending: RunEnding = { output: null, error: null, ...seen };
    const { status, output } = ending;
    if (!isFinal(status)) return { execution_id, status };
    return status === "completed" ? { execution_id, status, output } : errorOf(execution_id, ending, workflow.trigger.error_status);
  } catch (error) {
    if (isAppError(error)) await recordRefusedRun(run, error.message);
    throw error;
  }
}
