import { childPool, type JobFailure } from "#server/platform/children/pool.ts";
import type { Content, ContentText } from "#server/platform/documents/page-content.ts";
import type { PreparedDocument, RawDocument } from "#server/platform/documents/prepare-document.ts";
import type { ReadAnswer, ReadJob } from "#server/platform/documents/process.ts";
import type { SearchResult } from "#server/platform/documents/results-page.ts";
import { AppError } from "#server/platform/errors.ts";

const TIMEOUT_MS = 15_000;
/** A document may be long, and nobody waits for it. */
const DOCUMENT_MS = 120_000;
const MEGABYTES = 512;

const PROGRAM = "platform/documents/process.ts";
const OPTIONS = { heapMegabytes: 2 * MEGABYTES, idleMs: 60_000 };
const pages = childPool<ReadJob, ReadAnswer>(PROGRAM, { most: 3, ...OPTIONS });
/** Apart from pages, for which an agent waits: documents of a few projects would keep every process for minutes. */
const documents = childPool<ReadJob, ReadAnswer>(PROGRAM, { most: 2, ...OPTIONS }, "documents");

/** What a reader may be told to keep to. */
export interface ReadLimits {
  /** Whose turn it takes: the project. */
  owner: string;
  signal?: AbortSignal;
  /** From the beginning of the reading. */
  timeoutMs?: number;
}

function failureFor(failure: JobFailure, what: string): AppError {
  if (failure === "time")
    return new AppError("VALIDATION_ERROR", `The ${what} is built so that reading it takes too long. Use another source.`);
  if (failure === "full" || failure === "absent")
    return new AppError("UPSTREAM_ERROR", `This machine is too busy to read ${what}s. Try again later.`);
  return new AppError("VALIDATION_ERROR", `Reading the ${what} takes more memory than there is for it. Use another source.`);
}

/** Has something read in a process that is killed when it takes too long or too much. */
async function readApart(
  job: ReadJob,
  { owner, signal = new AbortController().signal, timeoutMs: ms }: ReadLimits & { timeoutMs: number },
): Promise<Exclude<ReadAnswer, { failure: string }>> {
  signal.throwIfAborted();
  const outcome = await ("document" in job ? documents : pages).run(job, { owner, ms, megabytes: MEGABYTES, signal: () => signal });
  if ("failure" in outcome) throw failureFor(outcome.failure, "document" in job ? "document" : "page");
  if ("failure" in outcome.answer) throw new AppError("VALIDATION_ERROR", outcome.answer.failure);
  return outcome.answer;
}

/**
 * Reads the text of what was fetched, in a process of its own.
 * @throws AppError with a sentence; the signal's reason when it aborts
 */
export async function readContent(page: Content, { timeoutMs = TIMEOUT_MS, ...limits }: ReadLimits): Promise<ContentText> {
  const answer = await readApart({ page }, { ...limits, timeoutMs });
  if (!("page" in answer)) throw new Error("The process answered something else.");
  return answer.page;
}

/**
 * Reads a search service's page of results, in such a process; null when it is another page.
 * @throws as readContent does
 */
export async function readResults(html: string, { timeoutMs = TIMEOUT_MS, ...limits }: ReadLimits): Promise<SearchResult[] | null> {
  const answer = await readApart({ results: html }, { ...limits, timeoutMs });
  if (!("results" in answer)) throw new Error("The process answered something else.");
  return answer.results;
}

/**
 * Reads a document and cuts it into pieces, in such a process.
 * @throws AppError VALIDATION_ERROR that says what is wrong with the document, UPSTREAM_ERROR when there is no room just now
 */
export async function readDocumentApart(
  document: RawDocument,
  { timeoutMs = DOCUMENT_MS, ...limits }: ReadLimits,
): Promise<PreparedDocument> {
  const answer = await readApart({ document }, { ...limits, timeoutMs });
  if (!("document" in answer)) throw new Error("The process answered something else.");
  return answer.document;
}
