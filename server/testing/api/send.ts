import { type Reply, readReply } from "#server/testing/api/envelope.ts";
import type { Operation } from "#server/testing/api/operations.ts";
import type { Sample } from "#server/testing/api/samples.ts";

/** A request as it goes out; `text` is the body. */
export interface Wire {
  method: string;
  /** Below /api/v1, with the query. */
  path: string;
  headers: Record<string, string>;
  text?: string | Uint8Array<ArrayBuffer>;
}

/** How a request gets to the API: over the network, or straight to what answers it. */
export interface Door {
  /** Without a trailing slash. */
  url: string;
  fetch(url: string, init: RequestInit): Promise<Response>;
}

/** How long an answer may take at most, in milliseconds: what has not come then never will. */
const PATIENCE_MS = 30_000;

/** Percent-encodes any text, half a surrogate pair too, which makes an address that cannot be decoded. */
const encoded = (text: string): string =>
  text.isWellFormed() ? encodeURIComponent(text) : `%ED%A0%80${encodeURIComponent(text.toWellFormed())}`;

/** @param text the body, where it is not simply the sample's as JSON */
export function wireOf({ method, path }: Operation, { path: values = {}, query = {}, body, sign }: Sample, text?: Wire["text"]): Wire {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encoded(values[name] ?? ""));
  const search = Object.entries(query).map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  const sent = text ?? (body && JSON.stringify(body));
  return {
    method,
    path: search.length ? `${filled}?${search.join("&")}` : filled,
    headers: { ...(sent !== undefined && { "content-type": "application/json" }), ...(typeof sent === "string" && sign?.(sent)) },
    ...(sent !== undefined && { text: sent }),
  };
}

/**
 * @param headers who sends it; they win over those of the request
 * @param base what `path` is below
 */
export async function send(
  { url, fetch }: Door,
  { method, path, headers: own, text }: Wire,
  headers: Record<string, string> = {},
  base = "/api/v1",
): Promise<Reply> {
  const response = await fetch(`${url}${base}${path}`, {
    method,
    headers: { ...own, ...headers },
    ...(text !== undefined && { body: text }),
    redirect: "manual",
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  return readReply(response);
}

/** A short sentence on a request and its answer, for a report of failures. */
export const told = ({ method, path, text }: Wire, reply: Reply): string =>
  `${method} ${path.slice(0, 200)} ${String(text ?? "").slice(0, 400)} → ${reply.status} ${reply.text.slice(0, 400)}`;
