import { pool } from "#server/platform/db/client.ts";
import { accentFreeText, earlierSearchText, FOLDING, searchText } from "#server/shared/search-text.ts";

// BM25 over PostgreSQL's text search. Its own ranking does not know which words are rare, so that with any of the words of
// a question (all of them are seldom in one piece) the frequent ones would decide.

/** The parameters that most search engines start with. */
const K1 = 1.2;
const B = 0.75;
/** Words of a question that are looked up, and pieces that are ranked, at most: the rarest words first. */
const MOST_WORDS = 64;
const MOST_CANDIDATES = 20_000;

const SEARCHABLE = `d.status IN ('ready', 'indexing')`;
/** A lexeme as a query for just it. */
const AS_QUERY = (lexeme: string) => `('''' || replace(replace(${lexeme}, '\\', '\\\\'), '''', '''''') || '''')::tsquery`;

interface Word {
  lexeme: string;
  pieces: number;
}

/** Chunks indexed in the form of an earlier release. */
export const OUTDATED = `folding < ${FOLDING}`;

/**
 * Returns SQL for a `tsvector`: words as written, in weight D, and words that have accents also without them, in weight C.
 * @param text SQL for a text as `searchText` returns it
 * @param accentFree SQL for a text as `accentFreeText` returns it
 */
export const vectorOf = (language: string, text: string, accentFree: string): string =>
  `to_tsvector(${language}::regconfig, ${text}) || setweight(to_tsvector(${language}::regconfig, ${accentFree}), 'C')`;

/** Occurrences of a lexeme of `unnest(tsvector)`: a word with other accents counts half. */
const OCCURRENCES = "greatest(cardinality(array_positions(u.weights, 'D')), 0.5 * cardinality(array_positions(u.weights, 'C')))::float8";

/** The words of a question as the texts of these sources have them, in each of their languages, with how many pieces hold them. */
async function wordsOf(ragIds: string[], query: string): Promise<Word[]> {
  const text = searchText(query);
  const { rows } = await pool().query<Word>(
    `WITH texts AS (
       SELECT $2::text AS text
       UNION ALL
       SELECT $3::text
       WHERE EXISTS (SELECT FROM rag_chunks WHERE rag_source_id = ANY($1::uuid[]) AND ${OUTDATED})),
     words AS (
       SELECT DISTINCT unnest(tsvector_to_array(to_tsvector(language::regconfig, text))) AS lexeme
       FROM (SELECT DISTINCT language FROM rag_documents WHERE rag_source_id = ANY($1::uuid[])) languages
       CROSS JOIN texts
       LIMIT ${MOST_WORDS})
     SELECT lexeme, (SELECT count(*)::int FROM rag_chunks c WHERE c.rag_source_id = ANY($1::uuid[]) AND c.search @@ ${AS_QUERY("lexeme")}) AS pieces
     FROM words ORDER BY pieces`,
    [ragIds, `${text} ${accentFreeText(text)}`, earlierSearchText(query)],
  );
  return rows.filter(({ pieces }) => pieces > 0);
}

/** The rarest words, as many as keep the number of pieces to rank within bounds; always one. */
function rarest(words: Word[]): Word[] {
  let sum = 0;
  return words.filter(({ pieces }, index) => {
    sum += pieces;
    return index === 0 || sum <= MOST_CANDIDATES;
  });
}

/**
 * The pieces of `documents` sources whose words fit a question best, best first.
 * @returns ids of chunks
 */
export async function searchWords(ragIds: string[], query: string, limit: number): Promise<string[]> {
  const words = rarest(await wordsOf(ragIds, query));
  if (!words.length) return [];
  const { rows: counted } = await pool().query<{ pieces: number }>(
    "SELECT coalesce(sum(chunk_count), 0)::int AS pieces FROM rag_documents WHERE rag_source_id = ANY($1::uuid[])",
    [ragIds],
  );
  const all = Math.max(counted[0]?.pieces ?? 0, ...words.map(({ pieces }) => pieces));
  const weights = words.map(({ pieces }) => Math.log(1 + (all - pieces + 0.5) / (pieces + 0.5)));
  const { rows } = await pool().query<{ id: string }>(
    `WITH words AS (SELECT lexeme, weight FROM unnest($2::text[], $3::float8[]) AS w(lexeme, weight)),
     candidates AS MATERIALIZED (
       SELECT c.id, c.search, length(c.search)::float8 AS size
       FROM rag_chunks c JOIN rag_documents d ON d.id = c.document_id
       WHERE c.rag_source_id = ANY($1::uuid[]) AND ${SEARCHABLE}
         AND c.search @@ (SELECT string_agg(${AS_QUERY("lexeme")}::text, ' | ') FROM words)::tsquery
       LIMIT ${MOST_CANDIDATES}),
     average AS (SELECT greatest(avg(size), 1) AS size FROM candidates)
     SELECT c.id, sum(w.weight * t.often * ${K1 + 1} / (t.often + ${K1} * (1 - ${B} + ${B} * c.size / a.size))) AS score
     FROM candidates c CROSS JOIN average a
     CROSS JOIN LATERAL (SELECT u.lexeme, ${OCCURRENCES} AS often FROM unnest(c.search) u) t
     JOIN words w ON w.lexeme = t.lexeme
     GROUP BY c.id ORDER BY score DESC, c.id LIMIT $4`,
    [ragIds, words.map(({ lexeme }) => lexeme), weights, limit],
  );
  return rows.map(({ id }) => id);
}
