import { parentPort } from "node:worker_threads";
import { isAppError } from "#server/errors.ts";
import { type PreparedDocument, prepareDocument, type RawDocument } from "#server/tools/knowledge/prepare-document.ts";
import { type Content, type ContentText, contentOf } from "#server/tools/page-content.ts";
import { ToolFailure } from "#server/tools/web-fetch.ts";

// A thread of its own, started by page-reader.ts: takes strangers' pages and files apart, one at a time. It may be ended at any
// moment, because a page can be made so that reading it takes minutes.

/** What the thread is given: what was fetched for a model, or a document to be indexed. */
export type ReadJob = { page: Content } | { document: RawDocument };
/** What it answers: the text, or a sentence about why there is none. */
export type ReadAnswer = { page: ContentText } | { document: PreparedDocument } | { failure: string };

async function read(job: ReadJob): Promise<ReadAnswer> {
  const what = "page" in job ? "page" : "document";
  try {
    return "page" in job ? { page: await contentOf(job.page) } : { document: await prepareDocument(job.document) };
  } catch (error) {
    if (error instanceof ToolFailure || isAppError(error)) return { failure: error.message };
    if (error instanceof RangeError) return { failure: `The ${what} is nested too deeply to be read.` };
    return { failure: `The ${what} is damaged, and cannot be read.` };
  }
}

// Loading takes seconds on a busy machine, which is no page's fault: time is counted from here on.
await Promise.all([import("jsdom"), import("@mozilla/readability"), import("turndown")]);
parentPort?.on("message", async (job: ReadJob) => parentPort?.postMessage(await read(job)));
parentPort?.postMessage("ready");
