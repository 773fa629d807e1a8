import { pool } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import { type ExecutionLogsInput, PREVIEW_CHARACTERS } from "#server/schemas/execution.ts";

/** The most bytes of texts that a log has whole. */
const MOST_WHOLE = 64 * 1024 * 1024;
/** The most that a log has at all, of each text the beginning. */
const MOST = 2 * MOST_WHOLE;
/** Longer than any text is. */
const WHOLE = 2 ** 29;

/** What a node was given and left behind. */
interface LogTexts {
  input: string | null;
  output: string | null;
  tool_calls: unknown;
  /** One of the two is only a beginning. */
  truncated: boolean;
}

const FROM = `
  FROM node_runs r JOIN node_run_values v ON v.node_run_id = r.id
  WHERE r.execution_id = $1 AND ($2::text IS NULL OR r.node_id = $2) AND ($3::text IS NULL OR r.iteration = $3)`;
// Sizes as they are stored: nothing is unpacked to know them. A character of a beginning has four bytes at most.
const size = (column: string) => `coalesce(octet_length(v.${column}), 0)`;
const SIZES = `
  SELECT coalesce(sum(${size("input")} + ${size("output")} + coalesce(pg_column_size(v.tool_calls), 0)), 0)::float8 AS whole,
    coalesce(sum(least(${size("input")}, ${4 * PREVIEW_CHARACTERS}) + least(${size("output")}, ${4 * PREVIEW_CHARACTERS})
      + coalesce(pg_column_size(v.tool_calls), 0)), 0)::float8 AS beginnings ${FROM}`;
const TEXTS = `
  SELECT r.id, left(v.input, $4) AS input, left(v.output, $4) AS output, v.tool_calls,
    (length(left(v.input, $4 + 1)) > $4) IS TRUE OR (length(left(v.output, $4 + 1)) > $4) IS TRUE AS truncated ${FROM}`;

/**
 * The texts of a log by the ids of its rows: whole, or of a large log their beginnings.
 * @throws AppError VALIDATION_ERROR when even those are too much for one answer
 */
export async function logTexts({ execution_id, node_id, iteration }: ExecutionLogsInput): Promise<Map<string, LogTexts>> {
  const which = [execution_id, node_id ?? null, iteration ?? null];
  const { rows: sizes } = await pool().query<{ whole: number; beginnings: number }>(SIZES, which);
  const { whole = 0, beginnings = 0 } = sizes[0] ?? {};
  if (beginnings > MOST) {
    const message = `The log of this execution has ${Math.ceil(whole / 1024 / 1024)} MiB, too much for one answer. Ask for one node with node_id, or for one item of a loop with iteration.`;
    throw new AppError("VALIDATION_ERROR", message, { errors: [{ path: "node_id", message }] });
  }
  const { rows } = await pool().query<LogTexts & { id: string }>(TEXTS, [...which, whole > MOST_WHOLE ? PREVIEW_CHARACTERS : WHOLE]);
  return new Map(rows.map((row) => [row.id, row]));
}
