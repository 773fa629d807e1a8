import type { RagSource } from "#prisma/generated/client.ts";
import { openConfig, openRemote } from "#server/features/knowledge/config.ts";
import { embed, embeddingOf, normalized } from "#server/features/knowledge/embedding.ts";
import { findRag } from "#server/features/knowledge/find-source.ts";
import type { RagConfigs, RagHit, RagSearchResult, SearchRagInput } from "#server/features/knowledge/schema.ts";
import { searchHttp } from "#server/features/knowledge/sources/http-source.ts";
import { searchPgvector } from "#server/features/knowledge/sources/pgvector.ts";
import { searchQdrant } from "#server/features/knowledge/sources/qdrant.ts";
import type { Reaching, RemoteHit } from "#server/features/knowledge/sources/remote-hit.ts";
import { searchVectors } from "#server/features/knowledge/vectors.ts";
import { searchWords } from "#server/features/knowledge/words.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, isAppError } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { isUuid } from "#server/platform/new-id.ts";

/** The constant of reciprocal rank fusion: how little the first places count more than the next. */
const K = 60;
/** How deep each list is read before the lists are fused. */
const DEPTH = 50;
const MOST_QUERY = 4000;

type Hit = Omit<RagHit, "score">;
/** What one way of searching found, best first; `key` says what is the same in two lists. */
type Ranking = { key: string; hit: Hit | null }[];

/** The vector of the question, asked for once for each embedding model, however many sources use it. */
function questionVectors(projectId: string, query: string, signal: AbortSignal | undefined) {
  const asked = new Map<string, Promise<number[] | undefined>>();
  return (config: object): Promise<number[] | undefined> => {
    const key = `${Reflect.get(config, "embedding_llm_key_id")} ${Reflect.get(config, "embedding_model")}`;
    const vector = asked.get(key) ?? ask();
    asked.set(key, vector);
    return vector;

    async function ask() {
      const embedding = await embeddingOf(projectId, config);
      return embedding && (await embed(projectId, embedding, [query], signal))[0];
    }
  };
}
type Vectors = ReturnType<typeof questionVectors>;

async function needed(vectors: Vectors, config: object): Promise<number[]> {
  const vector = await vectors(config);
  if (!vector) throw new AppError("VALIDATION_ERROR", "The source has no embedding key. Choose one in its settings.");
  return vector;
}

async function searchRemote(source: RagSource, query: string, limit: number, vectors: Vectors, signal?: AbortSignal): Promise<RemoteHit[]> {
  const config = openRemote(source);
  if (source.type === "http") return searchHttp(config as Reaching<RagConfigs["http"]>, query, limit, signal); // casts: stored by type
  const vector = await needed(vectors, config);
  if (source.type === "qdrant") return searchQdrant(config as Reaching<RagConfigs["qdrant"]>, vector, limit, signal);
  return searchPgvector(config as Reaching<RagConfigs["pgvector"]>, vector, limit);
}

const remoteRanking = (source: RagSource, hits: RemoteHit[]): Ranking =>
  hits.map((hit, index) => ({ key: `${source.id} ${index}`, hit: { rag_id: source.id, place: "", read_at: null, ...hit } }));

const localRanking = (ids: string[]): Ranking => ids.map((key) => ({ key, hit: null }));

/** The pieces with these ids, as hits. */
async function readPieces(ids: string[]): Promise<Map<string, Hit>> {
  const rows = await db().ragChunk.findMany({
    where: { id: { in: ids } },
    select: {
      ...{ id: true, rag_source_id: true, document_id: true, place: true, text: true },
      document: { select: { title: true, uri: true, updated_at: true } },
    },
  });
  return new Map(
    rows.map(({ id, rag_source_id: rag_id, document_id, place, text, document: { title, uri, updated_at } }) => [
      id,
      { rag_id, document_id, title, uri, place, text, read_at: updated_at.toISOString() },
    ]),
  );
}

async function fuse(rankings: Ranking[], limit: number): Promise<{ hits: RagHit[]; isWhole: boolean }> {
  const fused = new Map<string, { hit: Hit | null; score: number }>();
  for (const ranking of rankings)
    for (const [rank, { key, hit }] of ranking.entries()) {
      const score = (fused.get(key)?.score ?? 0) + 1 / (K + rank + 1);
      fused.set(key, { hit, score });
    }
  const best = [...fused].sort(([, a], [, b]) => b.score - a.score).slice(0, limit);
  const pieces = await readPieces(best.flatMap(([key, { hit }]) => (hit ? [] : [key])));
  const hits = best.flatMap(([key, { hit, score }]) => {
    const found = hit ?? pieces.get(key); // a piece may be gone since
    return found ? [{ ...found, score }] : [];
  });
  return { hits, isWhole: hits.length === best.length };
}

const shownOf = ({ code, message }: AppError): string => (code === "INTERNAL_ERROR" ? "something went wrong on our side." : message);

interface SearchOptions {
  signal?: AbortSignal | undefined;
  /** Gets a sentence for each part of the search that failed while another one answered. */
  onProblem?: ((problem: string) => void) | undefined;
  /** How often it searches once more when pieces went away meanwhile; 2 unless given. */
  again?: number;
}

/** One part of a search, and what is said when it fails. */
interface Part {
  ranking: Promise<Ranking>;
  failing: string;
}

/**
 * Searches knowledge sources of a project: documents by their words and, where the source names an embedding key, by
 * meaning; other stores by their own means. All lists are fused by reciprocal rank. A source that fails is left out as long
 * as another one answers, and a question whose vector cannot be had is answered by words: `onProblem` tells.
 * @param ragIds sources; those that the project does not have are left out
 * @param limit results at most
 * @returns the best pieces with what a citation needs, best first
 * @throws AppError when every source failed: the first one's
 */
export async function searchRag(
  projectId: string,
  ragIds: readonly string[],
  query: string,
  limit: number,
  options: SearchOptions = {},
): Promise<RagHit[]> {
  const { signal, onProblem, again = 2 } = options;
  const question = query.trim().slice(0, MOST_QUERY).toWellFormed().replaceAll("\u0000", "");
  const sources = await db().ragSource.findMany({ where: { project_id: projectId, id: { in: ragIds.filter(isUuid) } } });
  if (!sources.length || question === "") return [];
  const vectors = questionVectors(projectId, question, signal);
  const local = sources.filter(({ type }) => type === "documents");
  const depth = Math.max(DEPTH, limit);
  const byWords = async () =>
    localRanking(
      await searchWords(
        local.map(({ id }) => id),
        question,
        depth,
      ),
    );
  const byMeaning = async (source: RagSource) => {
    const vector = await vectors(openConfig(source));
    return vector ? localRanking(await searchVectors(source, normalized(vector), depth)) : [];
  };
  const parts: Part[] = [
    ...(local.length ? [{ ranking: byWords(), failing: "" }] : []),
    ...local.map((source) => ({ ranking: byMeaning(source), failing: `"${source.name}" was searched by words only` })),
    ...sources
      .filter(({ type }) => type !== "documents")
      .map((source) => ({
        ranking: searchRemote(source, question, depth, vectors, signal).then((hits) => remoteRanking(source, hits)),
        failing: `"${source.name}" could not be searched`,
      })),
  ];
  const settled = await Promise.allSettled(parts.map(({ ranking }) => ranking));
  signal?.throwIfAborted();
  const rankings = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const failures = settled.flatMap((one, index) =>
    one.status === "rejected" ? [{ error: one.reason as unknown, failing: parts[index]?.failing ?? "" }] : [],
  );
  const unforeseen = failures.find(({ error }) => !isAppError(error));
  if (unforeseen) throw unforeseen.error;
  if (failures.length) {
    if (!rankings.some((ranking) => ranking.length) && !local.length) throw failures[0]?.error;
    log.warn({ err: failures[0]?.error, project_id: projectId, failures: failures.length }, "a part of a knowledge search failed");
  }
  const { hits, isWhole } = await fuse(rankings, limit);
  // A document that was indexed anew while the question's vector was made has other pieces now.
  if (!isWhole && again > 0) return searchRag(projectId, ragIds, query, limit, { ...options, again: again - 1 });
  for (const { error, failing } of failures) if (isAppError(error)) onProblem?.(`${failing}: ${shownOf(error)}`);
  return hits;
}

/**
 * What an agent would find in a source.
 * @throws AppError NOT_FOUND; UPSTREAM_ERROR when a store of the user's does not answer
 */
export async function searchOneRag(principal: ProjectPrincipal, { rag_id, query, limit }: SearchRagInput): Promise<RagSearchResult> {
  const { id } = await findRag(principal.project.id, rag_id);
  const problems: string[] = [];
  const items = await searchRag(principal.project.id, [id], query, limit, { onProblem: (problem) => problems.push(problem) });
  return { items, ...(problems.length > 0 && { problems }) };
}
