import type { RagConfigs } from "#server/features/knowledge/schema.ts";
import {
  askRemote,
  type Reaching,
  type RemoteHit,
  refusalOf,
  textOf,
  upstream,
  valueAt,
} from "#server/features/knowledge/sources/remote-hit.ts";

type Config = Reaching<RagConfigs["qdrant"]>;

const what = "Qdrant";

function ask(config: Config, path: string, body?: unknown, signal?: AbortSignal) {
  const base = config.url.replace(/(?<!\/)\/+$/, "");
  return askRemote({
    reach: config.reach,
    what,
    url: new URL(`${base}/collections/${encodeURIComponent(config.collection)}${path}`),
    method: body === undefined ? "GET" : "POST",
    headers: config.api_key ? { "api-key": config.api_key } : {},
    body,
    signal,
  });
}

/** Collections of every version answer `/points/search`; the newest ones only `/points/query`. */
async function nearest(config: Config, vector: number[], limit: number, signal?: AbortSignal): Promise<unknown[]> {
  const common = { limit, with_payload: true };
  const using = config.vector_name === null ? {} : { using: config.vector_name };
  const answer = await ask(config, "/points/query", { ...common, query: vector, ...using }, signal);
  const points = valueAt(answer.json, "result.points");
  if (answer.status === 200 && Array.isArray(points)) return points;
  const isMissing = answer.status === 404 && !/collection/i.test(textOf(valueAt(answer.json, "status.error")));
  if (!isMissing) throw refusalOf(what, answer.status, answer.json, [config.api_key]);
  const named = config.vector_name === null ? vector : { name: config.vector_name, vector };
  const old = await ask(config, "/points/search", { ...common, vector: named }, signal);
  const found = valueAt(old.json, "result");
  if (old.status === 200 && Array.isArray(found)) return found;
  throw refusalOf(what, old.status, old.json, [config.api_key]);
}

/**
 * The points nearest to a vector, best first.
 * @throws AppError UPSTREAM_ERROR
 */
export async function searchQdrant(config: Config, vector: number[], limit: number, signal?: AbortSignal): Promise<RemoteHit[]> {
  const points = await nearest(config, vector, limit, signal);
  return points.flatMap((point) => {
    const payload = valueAt(point, "payload");
    const text = textOf(valueAt(payload, config.text_field));
    if (!text) return [];
    const id = textOf(valueAt(point, "id"), 64);
    const uri = config.uri_field === null ? "" : textOf(valueAt(payload, config.uri_field), 2000);
    const title = config.title_field === null ? "" : textOf(valueAt(payload, config.title_field), 300);
    return [{ document_id: id || null, title: title || uri || `${config.collection} ${id}`, uri: uri || null, text }];
  });
}

/**
 * What the collection holds.
 * @throws AppError UPSTREAM_ERROR that says what is wrong with it
 */
export async function inspectQdrant(config: Config): Promise<{ points: number; dimensions: number | null; distance: string | null }> {
  const { status, json } = await ask(config, "");
  if (status !== 200) throw refusalOf(what, status, json, [config.api_key]);
  const vectors = valueAt(json, "result.config.params.vectors");
  if (vectors === undefined) throw upstream(`The server at ${new URL(config.url).host} does not answer like Qdrant. Check the address.`);
  const isNamed = typeof valueAt(vectors, "size") !== "number";
  if (isNamed && config.vector_name === null) {
    const names = Object.keys(Object(vectors)).slice(0, 10).join(", ");
    throw upstream(`The collection ${config.collection} has several vectors (${names}). Name one of them as vector name.`);
  }
  const vector = isNamed && config.vector_name !== null ? Reflect.get(Object(vectors), config.vector_name) : vectors;
  if (vector === undefined) throw upstream(`The collection ${config.collection} has no vector named ${config.vector_name}.`);
  const size = valueAt(vector, "size");
  return {
    points: Number(valueAt(json, "result.points_count") ?? 0),
    dimensions: typeof size === "number" ? size : null,
    distance: textOf(valueAt(vector, "distance"), 40) || null,
  };
}
