import { pool } from "#server/platform/db/client.ts";
import { invalidField } from "#server/platform/errors.ts";
import type { ExecutionLogsInput } from "#server/runs/schema.ts";
import { textOf } from "#server/runs/store/texts.ts";
import { PREVIEW_CHARACTERS } from "#server/workflow/output-size.ts";

const MIB = 1024 * 1024;
/** The most bytes of texts that a log has whole. One node at one place is the narrowest that can be asked for. */
const MOST_WHOLE = { log: 64 * MIB, node: 256 * MIB };
/** The most that a log has at all, of inputs and outputs the beginnings. */
const MOST = 128 * MIB;
/** Longer than any text is. */
const WHOLE = 2 ** 29;

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
  /** One of the two is only a beginning. */
  truncated: boolean;
}

const [INPUT, OUTPUT] = [textOf("input"), textOf("output")];
const FROM = `
  FROM node_runs r LEFT JOIN node_run_values v ON v.node_run_id = r.id
  WHERE r.execution_id = $1 AND ($2::text IS NULL OR r.node_id = $2) AND ($3::text IS NULL OR r.iteration = $3)`;
// No text is unpacked to know its bytes. A character of a beginning has four at most.
const size = (text: string) => `coalesce(octet_length(${text}), 0)`;
const beginning = (text: string) => `least(${size(text)}, ${4 * PREVIEW_CHARACTERS})`;
const REST = `${size("r.error")} + ${size("v.tool_calls::text")} + ${size("v.details::text")}`;
const SIZES = `
  SELECT coalesce(sum(${size(INPUT)} + ${size(OUTPUT)} + ${REST}), 0)::float8 AS whole,
    coalesce(sum(${beginning(INPUT)} + ${beginning(OUTPUT)} + ${REST}), 0)::float8 AS beginnings ${FROM}`;
const TEXTS = `
  SELECT r.id, left(${INPUT}, $4) AS input, left(${OUTPUT}, $4) AS output, v.tool_calls, v.details->>'printed' AS printed,
    v.details->>'child_execution_id' AS child_execution_id, v.details->'agent_version' AS agent_version, v.details->'status' AS status, v.details->'headers' AS headers,
    (length(left(${INPUT}, $4 + 1)) > $4) IS TRUE OR (length(left(${OUTPUT}, $4 + 1)) > $4) IS TRUE AS truncated ${FROM}`;

/**
 * The texts of a log by the ids of its rows: whole, or of a large log their beginnings.
 * @throws AppError VALIDATION_ERROR when even those are too much for one answer
 */
export async function logTexts({ execution_id, node_id, iteration }: ExecutionLogsInput): Promise<Map<string, LogTexts>> {
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
  const { rows } = await pool().query<LogTexts & { id: string }>(TEXTS, [...which, isWhole ? WHOLE : PREVIEW_CHARACTERS]);
  return new Map(rows.map((row) => [row.id, row]));
}
