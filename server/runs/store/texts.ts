import { pool } from "#server/platform/db/client.ts";
import { named, raw, type Sql, sql } from "#server/platform/db/sql.ts";
import type { DeferredTexts, StoredText } from "#server/platform/deferred-texts.ts";

// SQL expressions and readers of the texts of runs. Long texts are in run_texts: see long-texts.ts.

/** A text of an execution, whole, as an SQL expression; null when there is none. Takes the execution and the hash as expressions. */
export const wholeText = (execution_id: string, hash: string): string =>
  `(SELECT string_agg(t.text, '' ORDER BY t.part) FROM run_texts t WHERE t.execution_id = ${execution_id} AND t.hash = ${hash})`;

/** The column `input` or `output` of `node_run_values v` beside its `node_runs r`, as an SQL expression that has the text. */
export const textOf = (column: "input" | "output"): string =>
  `CASE WHEN v.${column}_hash IS NULL THEN v.${column} ELSE ${wholeText("r.execution_id", `v.${column}_hash`)} END`;

/** Bytes of a text of an execution, without unpacking it; null when there is none. Takes what `wholeText` does. */
export const wholeBytes = (execution_id: string, hash: string): string =>
  `(SELECT sum(octet_length(t.text)) FROM run_texts t WHERE t.execution_id = ${execution_id} AND t.hash = ${hash})`;

/** Bytes of what `textOf` gives. */
export const bytesOfText = (column: "input" | "output"): string =>
  `CASE WHEN v.${column}_hash IS NULL THEN octet_length(v.${column}) ELSE ${wholeBytes("r.execution_id", `v.${column}_hash`)} END`;

/** Something about the text of a column; `ofParts` selects it from those of its parts in `run_texts t` that are `which`. */
const aboutText = (column: "input" | "output", ofColumn: string, ofParts: string, which = "true"): string => `
  CASE WHEN v.${column}_hash IS NULL THEN ${ofColumn}
    ELSE (SELECT ${ofParts} FROM run_texts t WHERE t.execution_id = r.execution_id AND t.hash = v.${column}_hash AND ${which}) END`;

/** Characters of what `textOf` gives. Texts of earlier releases are unpacked for it. */
export const charactersOf = (column: "input" | "output"): string =>
  aboutText(column, `length(v.${column})`, "sum(coalesce(t.characters, length(t.text)))::int");

/** The beginning of what `textOf` gives. @param characters fewer than a part has */
export const beginningOf = (column: "input" | "output", characters: number): string =>
  aboutText(column, `left(v.${column}, ${characters})`, `left(t.text, ${characters})`, "t.part = 0");

/** Longest text that is always read whole where others are deferred, in bytes. */
const MAX_SHORT_BYTES = 16 * 1024;
/** Bytes of longer texts that one query reads all the same, so that responses of usual size have a length and are compressed. */
const MAX_READ_BYTES = 256 * 1024;
/** More bytes than any result has. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** Bytes of longer texts that a query with `readable` may read: few where others can be deferred. */
export const readableBytes = (texts: DeferredTexts | undefined): number => (texts ? MAX_READ_BYTES : NO_LIMIT);

/**
 * SQL condition under which a query reads a text whole; others are to be deferred. No text is unpacked for it.
 * @param bytes expression of its length in bytes
 * @param sum expression of the bytes of this and earlier texts of the result
 * @param limit parameter with `readableBytes`
 */
export const readable = (bytes: string, sum: string, limit: string): string =>
  `(${bytes} <= ${MAX_SHORT_BYTES} OR ${sum} <= ${limit}::float8)`;

const deleted = () => new Error("A text was deleted while it was sent.");

/**
 * Reads a text in pieces.
 * @param read reads a piece of `count` characters from `from` (1-based) on, and says whether more text follows in another part
 */
async function* slices(
  count: () => number,
  read: (part: number, from: number, count: number) => Promise<{ piece: string; last: number } | undefined>,
): AsyncGenerator<string> {
  let [part, from] = [0, 1];
  for (;;) {
    const wanted = count();
    const row = await read(part, from, wanted);
    if (!row) throw deleted();
    yield row.piece;
    // The database counts whole characters, and a text has as many UTF-16 units or more.
    if (row.piece.length >= wanted) from += wanted;
    else if (part >= row.last) return;
    else [part, from] = [part + 1, 1];
  }
}

/** Reads a text of `run_texts`. No piece unpacks more than its part. */
const partSlices = (execution_id: string, hash: string, count: () => number): AsyncGenerator<string> =>
  slices(count, async (part, from, characters) => {
    const statement = sql`
      SELECT substr(text, ${from}::int, ${characters}::int) AS piece,
        (SELECT max(part) FROM run_texts WHERE execution_id = ${execution_id} AND hash = ${hash}) AS last
      FROM run_texts
      WHERE execution_id = ${execution_id}
        AND hash = ${hash}
        AND part = ${part}`;

    const { rows } = await pool().query<{ piece: string; last: number }>(named("run-text-piece", statement));
    return rows[0];
  });

/** Place of a text in the database. */
interface TextPlace {
  /** Begins the names of its prepared statements. */
  name: string;
  /** Expressions of the run, the text and its name in `run_texts`, which may be null. */
  execution_id: string;
  text: string;
  hash: string;
  /** Items of FROM with the condition that finds the one row. */
  from: Sql;
}

/** A text in a column, or in `run_texts`, from where it is read if it is there: of a long column each piece unpacks all before it. */
export function storedText({ name, execution_id, text, hash, from: place }: TextPlace): StoredText {
  const find = sql`
    SELECT ${raw(execution_id)} AS execution_id, ${raw(hash)} AS hash
    FROM ${place}`;
  const slice = (from: number, characters: number) => sql`
    SELECT substr(${raw(text)}, ${from}::int, ${characters}::int) AS piece, 0 AS last
    FROM ${place}`;

  return {
    async *pieces(wanted) {
      const [found] = (await pool().query<{ execution_id: string; hash: string | null }>(named(`${name}-place`, find))).rows;
      if (!found) throw deleted();
      if (found.hash !== null) return yield* partSlices(found.execution_id, found.hash, wanted);

      yield* slices(wanted, async (_part, from, characters) => {
        const { rows } = await pool().query(named(`${name}-piece`, slice(from, characters)));
        return rows[0]?.piece === null ? undefined : rows[0];
      });
    },
  };
}

/** Input or output of a node's attempt. */
export const textOfNodeRun = (column: "input" | "output", id: string): StoredText =>
  storedText({
    name: `node-run-${column}`,
    execution_id: "r.execution_id",
    text: `v.${column}`,
    hash: `v.${column}_hash`,
    from: sql`node_runs r JOIN node_run_values v ON v.node_run_id = r.id WHERE r.id = ${id}::uuid`,
  });

const IS_READABLE = raw(readable("found.bytes", "sum(found.bytes) OVER (ORDER BY found.hash)", "given.max_bytes"));
const WHOLE_TEXT = raw(wholeText("given.execution_id", "found.hash"));

/** Returns texts by their hashes. @param texts takes those that are too long to be read whole */
async function textsOf(execution_id: string, hashes: readonly string[], texts?: DeferredTexts): Promise<Map<string, string>> {
  const statement = sql`
    WITH given AS NOT MATERIALIZED (
      SELECT ${execution_id}::uuid AS execution_id,
        ${readableBytes(texts)}::float8 AS max_bytes
    )
    SELECT found.hash, CASE WHEN ${IS_READABLE} THEN ${WHOLE_TEXT} END AS text
    FROM given, (
      SELECT hash, sum(octet_length(text)) AS bytes
      FROM run_texts
      WHERE execution_id = ${execution_id}
        AND hash = ANY(${[...new Set(hashes)]})
      GROUP BY hash
    ) AS found`;

  const { rows } = await pool().query<{ hash: string; text: string | null }>(named("run-texts", statement));
  const deferred = (hash: string): StoredText => ({ pieces: (count) => partSlices(execution_id, hash, count) });
  return new Map(rows.map(({ hash, text }) => [hash, text ?? texts?.defer(deferred(hash)) ?? ""]));
}

const HASH = /_hash$/;

/** The same with the texts in the places of their hashes; `execution_id` is whose they are. @param defer takes the long ones out */
export async function withTexts(execution_id: string, stored: readonly unknown[], defer?: DeferredTexts): Promise<unknown[]> {
  const objects = stored.map((one) => (typeof one === "object" && one !== null ? Object.entries(one) : []));
  const hashes = objects.flatMap((fields) => fields.flatMap(([name, value]) => (HASH.test(name) ? [String(value)] : [])));
  if (hashes.length === 0) return [...stored];
  const texts = await textsOf(execution_id, hashes, defer);
  return objects.map((fields) => {
    const own = fields.filter(([name]) => !HASH.test(name));
    const long = fields.flatMap(([name, value]) => (HASH.test(name) ? [[name.replace(HASH, ""), texts.get(String(value)) ?? ""]] : []));
    return Object.fromEntries([...own, ...long]);
  });
}
