import { parentPort } from "node:worker_threads";
import { isAppError } from "#server/errors.ts";
import { type Content, type ContentText, contentOf } from "#server/tools/page-content.ts";
import { ToolFailure } from "#server/tools/web-fetch.ts";

// A thread of its own, started by page-reader.ts: takes strangers' pages and files apart, one at a time. It may be ended at any
// moment, because a page can be made so that reading it takes minutes.

/** What the thread answers: the text, or a sentence about why there is none. */
export type ReadAnswer = ContentText | { failure: string };

async function read(content: Content): Promise<ReadAnswer> {
  try {
    return await contentOf(content);
  } catch (error) {
    if (error instanceof ToolFailure || isAppError(error)) return { failure: error.message };
    if (error instanceof RangeError) return { failure: "The page is nested too deeply to be read." };
    return { failure: "The page is damaged, and cannot be read." };
  }
}

// Loading takes seconds on a busy machine, which is no page's fault: time is counted from here on.
await Promise.all([import("jsdom"), import("@mozilla/readability"), import("turndown")]);
parentPort?.on("message", async (content: Content) => parentPort?.postMessage(await read(content)));
parentPort?.postMessage("ready");
