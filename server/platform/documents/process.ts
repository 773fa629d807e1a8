import { serveJobs } from "#server/platform/children/program.ts";
import { type Content, type ContentText, contentOf } from "#server/platform/documents/page-content.ts";
import { type PreparedDocument, prepareDocument, type RawDocument } from "#server/platform/documents/prepare-document.ts";
import { resultsOf, type SearchResult } from "#server/platform/documents/results-page.ts";
import { isAppError } from "#server/platform/errors.ts";

// A program of its own, started by reader.ts: takes strangers' pages and files apart, one at a time. It may be killed at any
// moment, because a page can be made so that reading it takes minutes or gigabytes.

/** What the process is given: what was fetched for a model, a document to be indexed, or a search service's page. */
export type ReadJob = { page: Content } | { document: RawDocument } | { results: string };
/** What it answers: the text, or a sentence about why there is none. */
export type ReadAnswer = { page: ContentText } | { document: PreparedDocument } | { results: SearchResult[] | null } | { failure: string };

async function read(job: ReadJob): Promise<ReadAnswer> {
  const what = "document" in job ? "document" : "page";
  try {
    if ("page" in job) return { page: await contentOf(job.page) };
    if ("results" in job) return { results: await resultsOf(job.results) };
    return { document: await prepareDocument(job.document) };
  } catch (error) {
    if (isAppError(error)) return { failure: error.message };
    // A text or a list longer than there may be; a stack that is full is a RangeError too.
    if (error instanceof RangeError && /invalid [^\n]{0,40}length|allocation/i.test(error.message))
      return { failure: `Reading the ${what} takes more memory than there is for it. Use another source.` };
    if (error instanceof RangeError) return { failure: `The ${what} is nested too deeply to be read.` };
    return { failure: `The ${what} is damaged, and cannot be read.` };
  }
}

// Loading takes seconds on a busy machine, which is no page's fault: time is counted from here on.
await Promise.all([import("jsdom"), import("@mozilla/readability"), import("turndown")]);
await serveJobs(read);
