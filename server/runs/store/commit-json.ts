import { cleanText } from "#server/platform/clean-text.ts";
import type { Commit, Ending, EventWrite, RunState } from "#server/runs/ports.ts";
import type { LongTexts } from "#server/runs/store/long-texts.ts";

/** Formats JSON that PostgreSQL accepts: without U+0000 and without lone surrogates, such as cutting a text may leave. */
export function formatJson(value: unknown): string {
  const text = JSON.stringify(value);

  // Both are written as escapes: nearly all texts have none and are not searched again.
  if (!/\\u(?:0000|d[89a-f])/.test(text)) return text;
  return JSON.stringify(value, (_, item) => (typeof item === "string" ? cleanText(item) : item));
}

/** Formats the rows of a commit. A batch may have the start and the end of an attempt; a statement may touch a row only once. */
export function formatRows(rows: Commit["rows"], texts: LongTexts): string {
  const latest = new Map(rows.map((row) => [row.id, row]));
  return formatJson([...latest.values()].map((row) => texts.row(row)));
}

/** Formats events with the id of their run. */
export const formatEvents = (run: Pick<RunState, "id">, events: EventWrite[], texts?: LongTexts): string =>
  formatJson(events.map((event) => ({ ...(texts?.event(event) ?? event), execution_id: run.id })));

/** @param words for the search; left out when they are written apart */
export const formatEnding = (ending: Ending, texts: LongTexts, words?: string[]): string => formatJson({ ...texts.ending(ending), words });
