import { inTransaction } from "#server/platform/db/client.ts";
import type { ExecutionTrigger } from "#server/runs/schema.ts";
import { TEXT_CHARACTERS, wordsAtEnd, wordsAtStart } from "#server/runs/store/search-words.ts";

// Runs that are older than the search have no words yet. They get them in the background, so that no start of a new version waits for it.

/** How many runs get their words in one transaction: the end of a run among them waits for that. */
const BATCH = 200;

const beginning = (column: string) => `left(${column}, ${TEXT_CHARACTERS})`;
const WORDLESS = `
  SELECT e.id, e.project_id, e.workflow_id, e.trigger, ${beginning("v.input")} AS input, ${beginning("v.output")} AS output, ${beginning("e.error")} AS error
  FROM execution_values v JOIN executions e ON e.id = v.execution_id
  WHERE v.words IS NULL ORDER BY v.execution_id DESC LIMIT ${BATCH} FOR UPDATE OF v SKIP LOCKED`;

const ADD = `
  UPDATE execution_values v SET words = array_to_tsvector(ARRAY(SELECT jsonb_array_elements_text(r.words)))
  FROM jsonb_to_recordset($1::jsonb) AS r(id uuid, words jsonb) WHERE v.execution_id = r.id`;

interface Wordless {
  id: string;
  project_id: string;
  workflow_id: string;
  trigger: ExecutionTrigger;
  input: string;
  output: string | null;
  error: string | null;
}

/** @returns whether there may be more of them */
const addSome = (): Promise<boolean> =>
  inTransaction(async (client) => {
    const { rows } = await client.query<Wordless>(WORDLESS);
    const found = rows.map((run) => ({ id: run.id, words: [...wordsAtStart(run), ...wordsAtEnd(run)] }));
    if (found.length) await client.query(ADD, [JSON.stringify(found)]);
    return rows.length === BATCH;
  });

/** How long this goes on at once, in milliseconds. */
const TURN_MS = 20_000;

/**
 * Gives words to runs that have none, the newest first.
 * @returns whether some may be left
 */
export async function addMissingWords(): Promise<boolean> {
  const until = performance.now() + TURN_MS;
  let isLeft = true;
  while (isLeft && performance.now() < until) isLeft = await addSome();
  return isLeft;
}
