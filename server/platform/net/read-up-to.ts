import { JsonMeter, MAX_JSON_KEYS, MAX_JSON_PARTS, MAX_OBJECT_KEYS } from "#server/platform/clean-text.ts";
import { JsonTooComplex, MAX_JSON_DEPTH } from "#server/shared/json-depth.ts";

const size = (bytes: number): string => (bytes >= 1024 * 1024 ? `${bytes / 1024 / 1024} MiB` : `${bytes / 1024} KiB`);

/** An answer that was given up because of its length. */
export class AnswerTooLong extends Error {
  /** @param most how many bytes of it would have been read, or the limit in words: "128 tool calls" */
  constructor(most: number | string) {
    super(`The answer is longer than ${typeof most === "number" ? size(most) : most}.`);
    this.name = "AnswerTooLong";
  }
}

/**
 * Up to `most` bytes of a body; the rest is not waited for.
 * @returns isCut: the body was longer, and `bytes` is its beginning
 */
export async function readUpTo({ body }: Request | Response, most: number): Promise<{ bytes: Uint8Array; isCut: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body?.getReader();
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    chunks.push(value);
    if (size > most) {
      await reader.cancel().catch(() => undefined);
      return { bytes: Buffer.concat(chunks).subarray(0, most), isCut: true };
    }
  }
  return { bytes: Buffer.concat(chunks), isCut: false };
}

/** Bounds of JSON in an answer, in words. */
const PARSED = `the limit for JSON: ${MAX_JSON_KEYS} keys, ${MAX_OBJECT_KEYS} keys in one object, ${MAX_JSON_PARTS} objects and lists, ${MAX_JSON_DEPTH} levels`;

/**
 * Counts what an answer would cost to be parsed, before it is.
 * @throws AnswerTooLong
 */
export function measureJson(meter: JsonMeter, text: string): void {
  try {
    meter.read(text);
  } catch (error) {
    throw error instanceof JsonTooComplex ? new AnswerTooLong(PARSED) : error;
  }
}

/**
 * The JSON text of a body of at most `most` bytes. JSON takes up to twenty times its bytes once it is parsed: what is parsed has a
 * bound of its own, far below that of an answer that is streamed.
 * @throws AnswerTooLong
 */
export async function textUpTo(answer: Response, most: number): Promise<string> {
  const { bytes, isCut } = await readUpTo(answer, most);
  if (isCut) throw new AnswerTooLong(most);
  const text = new TextDecoder().decode(bytes);
  measureJson(new JsonMeter(), text);
  return text;
}
