import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { AppError } from "#server/errors.ts";
import type { PreparedDocument, RawDocument } from "#server/tools/knowledge/prepare-document.ts";
import type { Content, ContentText } from "#server/tools/page-content.ts";
import type { ReadAnswer, ReadJob } from "#server/tools/page-worker.ts";
import { ToolFailure } from "#server/tools/web-fetch.ts";

/** Threads at once; more pages wait for their turn. */
const MOST_THREADS = 2;
const TIMEOUT_MS = 15_000;
/** A document may be long, and nobody waits for it. */
const DOCUMENT_MS = 120_000;
/** For starting a thread on the busiest machine. */
const START_MS = 120_000;
const MOST_MEGABYTES = 512;

/** The program of the thread. In Next's bundle this module is elsewhere, and the process stands in the product's folder. */
function program(): string {
  const here = import.meta.url.startsWith("file:") ? dirname(fileURLToPath(import.meta.url)) : "";
  const beside = join(here, "page-worker.ts");
  return here && existsSync(beside) ? beside : join(process.cwd(), "server/tools/page-worker.ts");
}

const idle: Worker[] = [];
const waiting: (() => void)[] = [];
let busy = 0;

async function takeTurn(): Promise<void> {
  if (busy < MOST_THREADS) {
    busy += 1;
    return;
  }
  // The one before hands its turn on.
  await new Promise<void>((resolve) => waiting.push(resolve));
}

function passTurn(): void {
  const next = waiting.shift();
  if (next) next();
  else busy -= 1;
}

function takeWorker(): { worker: Worker; isNew: boolean } {
  const free = idle.pop();
  if (free) {
    free.ref();
    return { worker: free, isNew: false };
  }
  const worker = new Worker(/* turbopackIgnore: true */ program(), { resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES }, env: {} });
  worker.on("error", () => forget(worker));
  return { worker, isNew: true };
}

/** An idle thread keeps no process alive. */
function giveBack(worker: Worker): void {
  worker.unref();
  idle.push(worker);
}

function forget(worker: Worker): void {
  const at = idle.indexOf(worker);
  if (at >= 0) idle.splice(at, 1);
}

/** A thread could not be had: trying again later may go well. */
class Busy extends ToolFailure {}

/** Has something read in a thread that is ended when it takes too long. */
async function readApart(
  job: ReadJob,
  { signal, timeoutMs, what }: { signal: AbortSignal; timeoutMs: number; what: string },
): Promise<Exclude<ReadAnswer, { failure: string }>> {
  await takeTurn();
  let worker: Worker | undefined;
  const done = Promise.withResolvers<ReadAnswer>();
  const onAbort = () => done.reject(signal.reason);
  const onError = (error: Error) => {
    const isMemory = "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
    done.reject(isMemory ? new ToolFailure(`Reading the ${what} takes more memory than there is for it. Use another source.`) : error);
  };
  let timer: NodeJS.Timeout | undefined;
  const limit = (ms: number, failure: ToolFailure) => {
    clearTimeout(timer);
    timer = setTimeout(() => done.reject(failure), ms);
  };
  try {
    signal.throwIfAborted();
    signal.addEventListener("abort", onAbort, { once: true });
    const taken = takeWorker();
    worker = taken.worker;
    worker.once("error", onError);
    if (taken.isNew) {
      limit(START_MS, new Busy(`This machine is too busy to read ${what}s. Try again later.`));
      await Promise.race([once(worker, "message"), done.promise]);
    }
    limit(timeoutMs, new ToolFailure(`The ${what} is built so that reading it takes too long. Use another source.`));
    worker.once("message", done.resolve);
    worker.postMessage(job);
    const answer = await done.promise;
    worker.off("error", onError);
    giveBack(worker);
    if ("failure" in answer) throw new ToolFailure(answer.failure);
    return answer;
  } catch (error) {
    if (worker && !idle.includes(worker)) void worker.terminate();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    passTurn();
  }
}

/**
 * Reads the text of what was fetched, in a thread of its own that is ended when it takes too long.
 * @throws ToolFailure with a sentence; the signal's reason when it aborts
 */
export async function readContent(
  page: Content,
  { signal, timeoutMs = TIMEOUT_MS }: { signal: AbortSignal; timeoutMs?: number },
): Promise<ContentText> {
  const answer = await readApart({ page }, { signal, timeoutMs, what: "page" });
  if (!("page" in answer)) throw new Error("The thread answered something else.");
  return answer.page;
}

/**
 * Reads a document and cuts it into pieces, in such a thread.
 * @throws AppError VALIDATION_ERROR that says what is wrong with the document, UPSTREAM_ERROR when there is no room just now
 */
export async function readDocumentApart(document: RawDocument, timeoutMs = DOCUMENT_MS): Promise<PreparedDocument> {
  const { signal } = new AbortController();
  try {
    const answer = await readApart({ document }, { signal, timeoutMs, what: "document" });
    if (!("document" in answer)) throw new Error("The thread answered something else.");
    return answer.document;
  } catch (error) {
    if (error instanceof ToolFailure) throw new AppError(error instanceof Busy ? "UPSTREAM_ERROR" : "VALIDATION_ERROR", error.message);
    throw error;
  }
}
