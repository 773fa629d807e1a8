import type { IncomingMessage } from "node:http";
import { parseApiJsonInSlices } from "#server/platform/clean-text.ts";
import { AppError, invalidField } from "#server/platform/errors.ts";
import { readUpTo } from "#server/platform/net/read-up-to.ts";
import { settings } from "#server/platform/settings.ts";
import { JsonTooComplex } from "#server/shared/json-depth.ts";

/** Longest body of an operation that anyone may call without signing in, in bytes. */
export const MAX_PUBLIC_BODY_BYTES = 64 * 1024;

const tooLarge = (limit: number) =>
  new AppError("PAYLOAD_TOO_LARGE", `The body is larger than the limit of ${limit} bytes. Send less at once.`);

/** Where the body of a request comes from that is read from Node's own: one of the web's streams around it costs more than the reading. */
const SOURCE = Symbol("source of the body");
/** Request of Node whose headers a request has. */
const HEADERS = Symbol("source of the headers");
type Sourced = Request & { [SOURCE]?: IncomingMessage; [HEADERS]?: IncomingMessage };

/** Says where the body of a request without one comes from. It may be read once. @returns the request */
export const bodyFrom = (source: IncomingMessage, request: Request): Request => Object.assign(request, { [SOURCE]: source });

/** Names where the headers of a request come from. @returns the request */
export const headersFrom = (source: IncomingMessage, request: Request): Request => Object.assign(request, { [HEADERS]: source });

/** Headers of a request, with each value of a repeated name apart where Node's own request is known. */
export function* headerEntries(request: Request): Generator<[string, string]> {
  const distinct = (request as Sourced)[HEADERS]?.headersDistinct; // cast: most requests have none
  for (const [name, value] of request.headers) {
    const values = distinct?.[name] ?? [];
    // The front may have replaced a header since it came.
    const isRepeated = values.length > 1 && values.join(", ") === value;
    for (const one of isRepeated ? values : [value]) yield [name, one];
  }
}

/** @throws AppError PAYLOAD_TOO_LARGE, BAD_REQUEST for a body that breaks off */
function readIncoming(source: IncomingMessage, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    const stop = (error: AppError) => {
      source.off("data", take);
      source.resume();
      reject(error);
    };
    const take = (chunk: Buffer) => {
      size += chunk.byteLength;
      chunks.push(chunk);
      if (size > limit) stop(tooLarge(limit));
    };
    const broken = () => stop(new AppError("BAD_REQUEST", "The body broke off. Send it again."));
    source.on("data", take);
    source.once("end", () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    source.once("error", broken);
    source.once("close", () => source.complete || broken());
  });
}

/** A body that has taken so many milliseconds to come has been slow. */
const SLOW_MS = 1000;
const checks = new WeakMap<Request, () => Promise<void>>();

/** Has `check` asked again when the body of a request was slow to come: whoever sends it may be nobody any more. */
export function checkAfterSlowBody(request: Request, check: () => Promise<void>): void {
  checks.set(request, check);
}

/**
 * The bytes of a body, read no further than the limit.
 * @param limit bytes; the setting MAX_BODY_BYTES unless given
 * @throws AppError PAYLOAD_TOO_LARGE; what `checkAfterSlowBody` throws
 */
export async function readBytes(request: Request, limit = settings().MAX_BODY_BYTES): Promise<Uint8Array> {
  const begun = performance.now();
  const bytes = await readAll(request, limit);
  if (performance.now() - begun > SLOW_MS) await checks.get(request)?.();
  return bytes;
}

async function readAll(request: Request, limit: number): Promise<Uint8Array> {
  if (Number(request.headers.get("content-length") ?? 0) > limit) throw tooLarge(limit);
  const { [SOURCE]: source } = request as Sourced; // cast: most requests have none
  if (source) return readIncoming(source, limit);
  const { bytes, isCut } = await readUpTo(request, limit);
  if (isCut) throw tooLarge(limit);
  return bytes;
}

const isJsonType = (type: string): boolean => /^application\/(.+\+)?json$/.test((type.split(";")[0] ?? "").trim().toLowerCase());

const refused = (message: string) => invalidField("", message);

/** Reason for which a body could not be read: too complex, a form when it says that it is one, else broken JSON. */
function unreadable(type: string | null, cause: unknown): AppError {
  if (cause instanceof JsonTooComplex) return refused(`The body is too complex. ${cause.message}`);
  const isOther = type !== null && !isJsonType(type);
  const message = isOther
    ? `The body is declared as ${type.slice(0, 80)} and holds no JSON. Send JSON with the header \`Content-Type: application/json\`.`
    : "The body is not valid JSON. Check it for stray commas, quotes and encoding (UTF-8).";
  return new AppError("BAD_REQUEST", message, { cause });
}

/**
 * The body as a JSON object, whatever Content-Type says (curl -d declares a form); an absent one is `{}`.
 * @throws AppError PAYLOAD_TOO_LARGE, BAD_REQUEST for what is no JSON, VALIDATION_ERROR for JSON that is no object or too complex
 */
export async function readJsonObject(request: Request, limit?: number): Promise<Record<string, unknown>> {
  const bytes = await readBytes(request, limit);
  if (bytes.byteLength === 0) return {};
  let data: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (text.trim() === "") return {};
    data = await parseApiJsonInSlices(text);
  } catch (cause) {
    throw unreadable(request.headers.get("content-type"), cause);
  }
  if (typeof data !== "object" || data === null || Array.isArray(data)) throw refused("Send a JSON object: { … }.");
  // Copied key by key, so that a key named __proto__ stays a key.
  return Object.fromEntries(Object.entries(data));
}
