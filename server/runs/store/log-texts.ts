import { pool } from "#server/platform/db/client.ts";
import type { DeferredTexts } from "#server/platform/deferred-texts.ts";
import { invalidField } from "#server/platform/errors.ts";
import type { ExecutionLogsInput } from "#server/runs/schema.ts";
import { beginningOf, bytesOfText, readable, readableBytes, textOf, textOfNodeRun } from "#server/runs/store/texts.ts";
import type { CallAttempt } from "#server/shared/call-attempts.ts";
import { PREVIEW_CHARACTERS } from "#server/workflow/output-size.ts";

const MIB = 1024 * 1024;
/** The most bytes of texts that a log has whole. One node at one place is the narrowest that can be asked for. */
const MOST_WHOLE = { log: 64 * MIB, node: 256 * MIB };
/** The most that a log has at all, of inputs and outputs the beginnings. */
const MOST = 128 * MIB;

/** What a node was given and left behind. */
interface LogTexts {
  input: string | null;
  output: string | null;
  tool_calls: unknown;
  /** What its code printed. */
  printed: string | null;
  /** The run that it has started. */
  child_execution_id: string | null;
  /** The version of its agent that was asked. */
  agent_version: number | null;
  /** Of the last answer to its HTTP call. */
  status: number | null;
  headers: Record<string, string> | null;
  /** Tries of calls that were made more than once. */
  attempts: CallAttempt[] | null;
  /** One of the two is only a beginning. */
  truncated: boolean;
}

const FROM = `
  FROM node_runs r LEFT JOIN node_run_values v ON v.node_run_id = r.id
  WHERE r.execution_id = $1 AND ($2::text IS NULL OR r.node_id = $2) AND ($3::text IS NULL OR r.iteration = $3)`;
// No text is unpacked to know its bytes. A character of a beginning has four at most.
const size = (text: string) => `coalesce(octet_length(${text}), 0)`;
const [INPUT_SIZE, OUTPUT_SIZE] = [`coalesce(${bytesOfText("input")}, 0)`, `coalesce(${bytesOfText("output")}, 0)`];
const beginning = (bytes: string) => `least(${bytes}, ${4 * PREVIEW_CHARACTERS})`;
const REST = `${size("r.error")} + ${size("v.tool_calls::text")} + ${size("v.details::text")}`;
const SIZES = `
  SELECT coalesce(sum(${INPUT_SIZE} + ${OUTPUT_SIZE} + ${REST}), 0)::float8 AS whole,
    coalesce(sum(${beginning(INPUT_SIZE)} + ${beginning(OUTPUT_SIZE)} + ${REST}), 0)::float8 AS beginnings ${FROM}`;
/** A text of a whole log where it may be read, else its beginning. */
const textOrBeginning = (column: "input" | "output", bytes: string) =>
  `CASE WHEN NOT $4 THEN ${beginningOf(column, PREVIEW_CHARACTERS)} WHEN ${readable(bytes, "r.sum", "$5")} THEN ${textOf(column)} END`;
const isLonger = (column: "input" | "output") => `(length(${beginningOf(column, PREVIEW_CHARACTERS + 1)}) > ${PREVIEW_CHARACTERS}) IS TRUE`;
const TEXTS = `
  SELECT r.id, ${textOrBeginning("input", INPUT_SIZE)} AS input, ${textOrBeginning("output", OUTPUT_SIZE)} AS output,
    ${bytesOfText("input")} IS NOT NULL AS has_input, ${bytesOfText("output")} IS NOT NULL AS has_output, v.tool_calls, v.details->>'printed' AS printed,
    v.details->>'child_execution_id' AS child_execution_id, v.details->'agent_version' AS agent_version, v.details->'status' AS status, v.details->'headers' AS headers,
    v.details->'attempts' AS attempts,
    NOT $4 AND (${isLonger("input")} OR ${isLonger("output")}) AS truncated
  FROM (SELECT r.*, sum(${INPUT_SIZE} + ${OUTPUT_SIZE}) OVER (ORDER BY r.id) AS sum ${FROM}) AS r
  LEFT JOIN node_run_values v ON v.node_run_id = r.id`;

/**
 * The texts of a log by the ids of its rows: whole, or of a large log their beginnings.
 * @param texts takes the long texts out
 * @throws AppError VALIDATION_ERROR when even those are too much for one answer
 */
export async function logTexts(
  { execution_id, node_id, iteration }: ExecutionLogsInput,
  texts?: DeferredTexts,
): Promise<Map<string, LogTexts>> {
  const which = [execution_id, node_id ?? null, iteration ?? null];
  const { rows: sizes } = await pool().query<{ whole: number; beginnings: number }>(SIZES, which);
  const { whole = 0, beginnings = 0 } = sizes[0] ?? {};
  const isNarrow = node_id !== undefined && iteration !== undefined;
  if (beginnings > MOST && !isNarrow) {
    const path = node_id === undefined ? "node_id" : "iteration";
    const advice = path === "node_id" ? "one node with node_id, or one item of a loop with iteration" : "one item of a loop with iteration";
    throw invalidField(path, `This log has ${Math.ceil(whole / MIB)} MiB, too much for one answer. Ask for ${advice}.`);
  }
  const isWhole = whole <= (isNarrow ? MOST_WHOLE.node : MOST_WHOLE.log);
  type Row = LogTexts & { id: string; has_input: boolean; has_output: boolean };
  const { rows } = await pool().query<Row>(TEXTS, [...which, isWhole, readableBytes(texts)]);
  const text = (row: Row, column: "input" | "output") =>
    row[column] ?? (row[`has_${column}`] && texts ? texts.defer(textOfNodeRun(column, row.id)) : null);
  return new Map(rows.map((row) => [row.id, { ...row, input: text(row, "input"), output: text(row, "output") }]));
}
