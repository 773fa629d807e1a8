import { createHash, hash } from "node:crypto";
import { cleanText } from "#server/platform/clean-text.ts";
import { pool } from "#server/platform/db/client.ts";
import type { DeferredTexts, StoredText } from "#server/platform/deferred-texts.ts";
import { newId } from "#server/platform/new-id.ts";
import { inTimeSlices, TimeSlice } from "#server/platform/time-slice.ts";
import type { Commit, Ending, EventWrite, LedgerWrite, RunState, WaitWrite } from "#server/runs/ports.ts";
import type { ExecutionOutput } from "#server/runs/schema.ts";
import { FINAL, query } from "#server/runs/store/sql.ts";
import { piecesOf } from "#server/shared/text-pieces.ts";
import { PREVIEW_CHARACTERS } from "#server/workflow/output-size.ts";

// Most nodes pass on what they were given, whole: of a text that went through a hundred of them the database would keep
// its copy as input and as output of each, and those of the events. A long text is therefore kept once for each execution,
// in run_texts, and what refers to it holds its hash. Decision 18.

/** Texts with more characters are kept once. A shorter one is kept where it stands: most runs have no other. */
const LONG = 16 * 1024;

/**
 * Characters of the long texts of one write from which they are written before it, in parts of as many: a parameter of 16 MiB takes
 * four copies of itself, and time in which nothing else goes on.
 */
const PART = 512 * 1024;

/** Begins the names of outputs that are written ahead only to be put together. */
const OUTPUT = "output";

/** How many hashes a run remembers. One that it has forgotten is sent again, and changes nothing. */
const MOST_KNOWN = 10_000;

/** Hashes of texts that are in the database, by run. */
const known = new WeakMap<object, Set<string>>();

/** A row, an event or an output as it is stored: of long texts the hashes. */
type StoredRow = LedgerWrite & { input_hash?: string; output_hash?: string };
type StoredEvent = EventWrite & { output_hash?: string; display_value_hash?: string };
type StoredOutput = Omit<ExecutionOutput, "value"> & { value?: string; value_hash?: string };
type StoredEnding = Pick<Ending, "status" | "error"> & {
  output: string | null;
  output_hash?: string;
  kept_hash?: string;
  outputs: StoredOutput[];
};

/** Parts of a write that may hold long texts. */
type Texts = Pick<Commit, "rows" | "waits" | "ending">;

/** The texts of a write that are kept once if they are long; those of events are previews. */
const textsIn = ({ rows, waits = [], ending }: Texts): string[] => {
  const all: (string | null | undefined)[] = rows.flatMap(({ input, output }) => [input, output]);
  for (const { display_value, text } of waits) all.push(display_value, text);
  if (ending) all.push(ending.long ? null : ending.output, ...ending.outputs.map(({ value }) => value));
  return all.filter((text) => text !== null && text !== undefined && text.length > LONG) as string[]; // cast: nothing is filtered out
};

/** True when a write has to be preceded by texts, for which the execution must be there. */
export function mustWriteAhead(commit: Texts): boolean {
  return commit.ending?.long !== undefined || textsIn(commit).reduce((sum, { length }) => sum + length, 0) > PART;
}

// Each is on the disk before anything refers to it.
const PART_OF_TEXT = `
  INSERT INTO run_texts (execution_id, hash, part, text, characters)
  SELECT id, $3, $4, $5, length($5) FROM executions WHERE id = $1 AND lease_owner = $2 AND status NOT IN ${FINAL}
  ON CONFLICT DO NOTHING`;

/**
 * Computes the name of a long text in steps. One with several parts has a name of its own: an earlier release has kept such texts
 * whole, under their hash alone.
 */
function* nameInSteps(text: string): Generator<void, string> {
  const sum = createHash("sha256");
  for (const piece of piecesOf(text)) {
    sum.update(cleanText(piece));
    yield;
  }
  const name = sum.digest("base64url");
  return text.length > PART ? `${name}/parts` : name;
}

/** The run whose texts they are, with the name of its lease. */
type Writer = Pick<RunState, "id"> & { holder: string | null };

/** Takes the long texts out of one write of a run, to be written beside it in the same statement. */
export class LongTexts {
  readonly #run: Writer;
  readonly #texts = new Map<string, string>();
  readonly #referred = new Set<string>();
  /** Names of texts that are written ahead. */
  readonly #ahead = new Map<string, string>();
  #output: string | undefined;
  #characters = 0;

  /** @param run the same object for every write of a run */
  constructor(run: Writer) {
    this.#run = run;
  }

  /** Writes texts of a commit that `mustWriteAhead`, in parts between which the event loop has its turn. */
  async writeAhead(commit: Texts, signal: AbortSignal): Promise<void> {
    for (const text of new Set(textsIn(commit))) {
      const name = await inTimeSlices(nameInSteps(text));
      this.#ahead.set(text, name);
      if (known.get(this.#run)?.has(name)) continue;
      await this.#write(name, piecesOf(text), signal);
      this.#referred.add(name);
      this.written();
    }
    const { long } = commit.ending ?? {};
    if (!long) return;
    this.#output = `${OUTPUT} ${newId()}`;
    await this.#write(this.#output, long.pieces(), signal);
  }

  /** Writes a text in parts. Its pieces are made as they are asked for. */
  async #write(name: string, pieces: Iterable<string>, signal: AbortSignal): Promise<void> {
    const { id, holder } = this.#run;
    const slice = new TimeSlice();
    let part = 0;
    let gathered: string[] = [];
    let length = 0;
    const send = async () => {
      this.#characters += length;
      await query("run-text-part", PART_OF_TEXT, [id, holder, name, part++, cleanText(gathered.join(""))], signal);
      gathered = [];
      length = 0;
    };
    for (const piece of pieces) {
      gathered.push(piece);
      length += piece.length;
      if (length >= PART) await send();
      else if (slice.isUp) await slice.next();
    }
    if (length > 0) await send();
  }

  /** Removes what was only there to be put together, once it is. */
  async removeOutput(): Promise<void> {
    if (this.#output === undefined) return;
    await query("run-text-output-done", `DELETE FROM run_texts WHERE execution_id = $1 AND hash LIKE '${OUTPUT} %'`, [this.#run.id]);
  }

  /** Those that the database does not have yet, as two lists of the same length. */
  get lists(): [hashes: string[], texts: string[]] | undefined {
    return this.#texts.size ? [[...this.#texts.keys()], [...this.#texts.values()]] : undefined;
  }

  /** Characters of those, and of what was written ahead. */
  get length(): number {
    return [...this.#texts.values()].reduce((sum, text) => sum + text.length, this.#characters);
  }

  /** To be called when they are written: whatever refers to them later does so without them. */
  written(): void {
    if (this.#referred.size === 0) return;
    const hashes = known.get(this.#run) ?? new Set();
    if (hashes.size > MOST_KNOWN) hashes.clear();
    for (const one of this.#referred) hashes.add(one);
    known.set(this.#run, hashes);
  }

  row(row: LedgerWrite): StoredRow {
    const [input_hash, output_hash] = [this.#hashOf(row.input), this.#hashOf(row.output)];
    if (input_hash === undefined && output_hash === undefined) return row;
    return { ...row, ...(input_hash && { input_hash, input: null }), ...(output_hash && { output_hash, output: null }) };
  }

  event(event: EventWrite): StoredEvent {
    if ("output" in event) {
      const output_hash = this.#hashOf(event.output);
      return output_hash === undefined ? event : { ...event, output_hash, output: "" };
    }
    if (event.type !== "execution_paused") return event;
    const display_value_hash = this.#hashOf(event.display_value);
    return display_value_hash === undefined ? event : { ...event, display_value_hash, display_value: "" };
  }

  /** A wait, whose texts are kept with it: only those that are written ahead are left out. */
  wait({ display_value, text, ...wait }: WaitWrite): WaitWrite & { display_value_hash?: string; text_hash?: string } {
    const [display_value_hash, text_hash] = [this.#ahead.get(display_value ?? ""), this.#ahead.get(text ?? "")];
    return {
      ...wait,
      ...(display_value_hash ? { display_value_hash } : display_value !== undefined && { display_value }),
      ...(text_hash ? { text_hash } : text !== undefined && { text }),
    };
  }

  output({ value, ...output }: ExecutionOutput): StoredOutput {
    const value_hash = this.#hashOf(value);
    return { ...output, ...(value_hash === undefined ? { value } : { value_hash }) };
  }

  /** An ending with the beginning of an output that is written ahead; `kept_hash` names one that stays in `run_texts`. */
  ending({ status, error, output, outputs, long }: Ending): StoredEnding {
    const stored = outputs.map((one) => this.output(one));
    const ahead = output === null ? undefined : this.#ahead.get(output);
    const output_hash = long ? this.#output : ahead;
    if (output === null || output_hash === undefined) return { status, error, output, outputs: stored };
    // The row of the execution has a copy.
    this.#characters += ahead === undefined ? 0 : output.length;
    const kept = ahead === undefined ? {} : { kept_hash: ahead };
    return { status, error, output: output.slice(0, PREVIEW_CHARACTERS), output_hash, ...kept, outputs: stored };
  }

  #hashOf(text: string | null): string | undefined {
    if (text === null || text.length <= LONG) return undefined;
    const ahead = this.#ahead.get(text);
    if (ahead !== undefined) return ahead;
    const clean = cleanText(text);
    const name = hash("sha256", clean, "base64url");
    this.#referred.add(name);
    if (!known.get(this.#run)?.has(name)) this.#texts.set(name, clean);
    return name;
  }
}

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

const PART_SLICE = `
  SELECT substr(text, $4::int, $5::int) AS piece, (SELECT max(part) FROM run_texts WHERE execution_id = $1 AND hash = $2) AS last
  FROM run_texts WHERE execution_id = $1 AND hash = $2 AND part = $3`;

/** Reads a text of `run_texts`. No piece unpacks more than its part. */
const partSlices = (execution_id: string, hash: string, count: () => number): AsyncGenerator<string> =>
  slices(count, async (...at) => {
    const { rows } = await pool().query({ name: "run-text-piece", text: PART_SLICE, values: [execution_id, hash, ...at] });
    return rows[0];
  });

/** Place of a text in the database, as SQL expressions and what stands after FROM; `values` are its parameters. */
interface TextPlace {
  /** Of the prepared statements. */
  name: string;
  execution_id: string;
  text: string;
  /** Name of the same text in `run_texts`, or null. */
  hash: string;
  from: string;
  values: readonly unknown[];
}

/** A text in a column, or in `run_texts`, from where it is read if it is there: of a long column each piece unpacks all before it. */
export function storedText({ name, execution_id, text, hash, from, values }: TextPlace): StoredText {
  const [at, count] = [values.length + 1, values.length + 2];
  const find = { name: `${name}-place`, text: `SELECT ${execution_id} AS execution_id, ${hash} AS hash FROM ${from}`, values: [...values] };
  const slice = `SELECT substr(${text}, $${at}::int, $${count}::int) AS piece, 0 AS last FROM ${from}`;
  return {
    async *pieces(wanted) {
      const [found] = (await pool().query<{ execution_id: string; hash: string | null }>(find)).rows;
      if (!found) throw deleted();
      if (found.hash !== null) return yield* partSlices(found.execution_id, found.hash, wanted);
      yield* slices(wanted, async (_part, from, count) => {
        const { rows } = await pool().query({ name: `${name}-piece`, text: slice, values: [...values, from, count] });
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
    from: "node_runs r JOIN node_run_values v ON v.node_run_id = r.id WHERE r.id = $1::uuid",
    values: [id],
  });

const TEXTS = `
  SELECT hash, CASE WHEN ${readable("bytes", "sum(bytes) OVER (ORDER BY hash)", "$3")} THEN ${wholeText("$1", "found.hash")} END AS text
  FROM (SELECT hash, sum(octet_length(text)) AS bytes FROM run_texts WHERE execution_id = $1 AND hash = ANY($2) GROUP BY hash) AS found`;

async function textsOf(execution_id: string, hashes: readonly string[], texts?: DeferredTexts): Promise<Map<string, string>> {
  const { rows } = await pool().query<{ hash: string; text: string | null }>({
    name: "run-texts",
    text: TEXTS,
    values: [execution_id, [...new Set(hashes)], readableBytes(texts)],
  });
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
