import { hash } from "node:crypto";
import { cleanText } from "#server/platform/clean-text.ts";
import { pool } from "#server/platform/db/client.ts";
import type { EventWrite, LedgerWrite } from "#server/runs/ports.ts";
import type { ExecutionOutput } from "#server/runs/schema.ts";

// Most nodes pass on what they were given, whole: of a text that went through a hundred of them the database would keep
// its copy as input and as output of each, and those of the events. A long text is therefore kept once for each execution,
// in run_texts, and what refers to it holds its hash. Decision 18.

/** Texts with more characters are kept once. A shorter one is kept where it stands: most runs have no other. */
const LONG = 16 * 1024;

/** How many hashes a run remembers. One that it has forgotten is sent again, and changes nothing. */
const MOST_KNOWN = 10_000;

/** Hashes of texts that are in the database, by run. */
const known = new WeakMap<object, Set<string>>();

/** A row, an event or an output as it is stored: of long texts the hashes. */
type StoredRow = LedgerWrite & { input_hash?: string; output_hash?: string };
type StoredEvent = EventWrite & { output_hash?: string; display_value_hash?: string };
type StoredOutput = Omit<ExecutionOutput, "value"> & { value?: string; value_hash?: string };

/** Takes the long texts out of one write of a run, to be written beside it in the same statement. */
export class LongTexts {
  readonly #run: object;
  readonly #texts = new Map<string, string>();
  readonly #referred = new Set<string>();

  /** @param run the same object for every write of a run */
  constructor(run: object) {
    this.#run = run;
  }

  /** Those that the database does not have yet, as two lists of the same length. */
  get lists(): [hashes: string[], texts: string[]] | undefined {
    return this.#texts.size ? [[...this.#texts.keys()], [...this.#texts.values()]] : undefined;
  }

  /** Characters of those. */
  get length(): number {
    return [...this.#texts.values()].reduce((sum, text) => sum + text.length, 0);
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

  output({ value, ...output }: ExecutionOutput): StoredOutput {
    const value_hash = this.#hashOf(value);
    return { ...output, ...(value_hash === undefined ? { value } : { value_hash }) };
  }

  #hashOf(text: string | null): string | undefined {
    if (text === null || text.length <= LONG) return undefined;
    const clean = cleanText(text);
    const name = hash("sha256", clean, "base64url");
    this.#referred.add(name);
    if (!known.get(this.#run)?.has(name)) this.#texts.set(name, clean);
    return name;
  }
}

/** The column `input` or `output` of `node_run_values v` beside its `node_runs r`, as an SQL expression that has the text. */
export const textOf = (column: "input" | "output"): string =>
  `CASE WHEN v.${column}_hash IS NULL THEN v.${column} ELSE (
    SELECT t.text FROM run_texts t WHERE t.execution_id = r.execution_id AND t.hash = v.${column}_hash) END`;

/** Writes an execution's long texts; names as `LongTexts.lists` gives them, `execution_id` an expression over `from`. */
export const insertTexts = (execution_id: string, from: string, hashes: string, texts: string): string => `
    INSERT INTO run_texts (execution_id, hash, text)
    SELECT ${execution_id}, t.hash, t.text FROM ${from}, unnest(${hashes}::text[], ${texts}::text[]) AS t(hash, text)
    ON CONFLICT DO NOTHING`;

async function textsOf(execution_id: string, hashes: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await pool().query<{ hash: string; text: string }>({
    name: "run-texts",
    text: "SELECT hash, text FROM run_texts WHERE execution_id = $1 AND hash = ANY($2)",
    values: [execution_id, [...new Set(hashes)]],
  });
  return new Map(rows.map((row) => [row.hash, row.text]));
}

const HASH = /_hash$/;

/** The same with the texts in the places of their hashes; `execution_id` is whose they are. */
export async function withTexts(execution_id: string, stored: readonly unknown[]): Promise<unknown[]> {
  const objects = stored.map((one) => (typeof one === "object" && one !== null ? Object.entries(one) : []));
  const hashes = objects.flatMap((fields) => fields.flatMap(([name, value]) => (HASH.test(name) ? [String(value)] : [])));
  if (hashes.length === 0) return [...stored];
  const texts = await textsOf(execution_id, hashes);
  return objects.map((fields) => {
    const own = fields.filter(([name]) => !HASH.test(name));
    const long = fields.flatMap(([name, value]) => (HASH.test(name) ? [[name.replace(HASH, ""), texts.get(String(value)) ?? ""]] : []));
    return Object.fromEntries([...own, ...long]);
  });
}
