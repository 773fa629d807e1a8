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

/**
 * What a search service finds, in its own order.
 * @throws AppError UPSTREAM_ERROR; also when the answer has no list where the settings say
 */
export async function searchHttp(
  config: Reaching<RagConfigs["http"]>,
  query: string,
  limit: number,
  signal?: AbortSignal,
): Promise<RemoteHit[]> {
  const what = "The search service";
  const url = new URL(config.url);
  const fields = { [config.query_field]: query, ...(config.limit_field !== null && { [config.limit_field]: limit }) };
  if (config.method === "GET") for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, String(value));
  const { status, json } = await askRemote({
    reach: config.reach,
    what,
    url,
    method: config.method,
    headers: config.headers,
    ...(config.method === "POST" && { body: fields }),
    signal,
  });
  if (status < 200 || status > 299) throw refusalOf(what, status, json, Object.values(config.headers));
  const list = valueAt(json, config.results_path);
  if (!Array.isArray(list)) {
    const where = config.results_path === "" ? "the answer is no list" : `there is no list at "${config.results_path}"`;
    throw upstream(`${what} answered, but ${where}${json === null ? "; it sent no JSON" : ""}. Check "Results at" in the settings.`);
  }
  return list.slice(0, limit).flatMap((item) => {
    const text = typeof item === "string" ? textOf(item) : textOf(valueAt(item, config.text_field));
    if (!text) return [];
    const uri = config.uri_field === null ? "" : textOf(valueAt(item, config.uri_field), 2000);
    const title = config.title_field === null ? "" : textOf(valueAt(item, config.title_field), 300);
    const id = textOf(valueAt(item, "id"), 64);
    return [{ document_id: id || null, title: title || uri || url.host, uri: uri || null, text }];
  });
}
