import { createHash, hash } from "node:crypto";
import { cleanText } from "#server/platform/clean-text.ts";
import { named, raw, sql } from "#server/platform/db/sql.ts";
import { newId } from "#server/platform/new-id.ts";
import { inTimeSlices, TimeSlice } from "#server/platform/time-slice.ts";
import type { Commit, Ending, EventWrite, LedgerWrite, RunState, WaitWrite } from "#server/runs/ports.ts";
import type { ExecutionOutput } from "#server/runs/schema.ts";
import { FINAL, retryQuery } from "#server/runs/store/sql.ts";
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
const OUTPUT_NAMES = raw(`'${OUTPUT} %'`);

/** Hashes that a run remembers. A forgotten one is sent again, without an effect. */
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

const FINAL_STATUSES = raw(FINAL);

/** Writes a part of a text, on the disk before a row refers to it. */
async function writePart(
  run: Writer,
  { name, part, text }: { name: string; part: number; text: string },
  signal: AbortSignal,
): Promise<void> {
  const statement = sql`
    WITH given AS NOT MATERIALIZED (
      SELECT ${text}::text AS text
    )
    INSERT INTO run_texts (execution_id, hash, part, text, characters)
    SELECT e.id, ${name}, ${part}, given.text, length(given.text)
    FROM given, executions e
    WHERE e.id = ${run.id}
      AND e.lease_owner = ${run.holder}
      AND e.status NOT IN ${FINAL_STATUSES}
    ON CONFLICT DO NOTHING`;

  await retryQuery(named("run-text-part", statement), signal);
}

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
    const slice = new TimeSlice();
    let part = 0;
    let gathered: string[] = [];
    let length = 0;
    const send = async () => {
      this.#characters += length;
      await writePart(this.#run, { name, part: part++, text: cleanText(gathered.join("")) }, signal);
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

    const statement = sql`
      DELETE FROM run_texts
      WHERE execution_id = ${this.#run.id}
        AND hash LIKE ${OUTPUT_NAMES}`;
    await retryQuery(named("run-text-output-done", statement));
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
