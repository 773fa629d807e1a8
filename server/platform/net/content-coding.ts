import { pipeline } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from "node:zlib";
import { shorten } from "#server/shared/shorten.ts";

/** Codings that one body may have gone through. */
const MAX_CODINGS = 4;
/** Memory of a zstd decoder, as a power of two: 8 MiB, the most that RFC 9659 allows in HTTP. */
const ZSTD_WINDOW_LOG = 23;

/** Thrown for a body whose Content-Encoding has no decoder here. */
export class UnknownContentCoding extends Error {
  constructor(coding: string) {
    super(`The body is encoded as ${shorten(coding, 60)}, which cannot be unpacked: only gzip, deflate, br and zstd can.`);
    this.name = "UnknownContentCoding";
  }
}

// RFC 9110 means zlib by `deflate`, and many servers send the raw format: the first byte tells the two apart.
const isZlib = (first: Uint8Array): boolean => ((first[0] ?? 0) & 0x0f) === 8;

const DECODERS = new Map<string, (first: Uint8Array) => NodeJS.ReadWriteStream>([
  ["gzip", () => createGunzip()],
  ["x-gzip", () => createGunzip()],
  ["deflate", (first) => (isZlib(first) ? createInflate() : createInflateRaw())],
  ["br", () => createBrotliDecompress()],
  ["zstd", () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } })],
]);

/** Returns the codings of a Content-Encoding header in the order of their application, without `identity`. */
function codingsOf(header: string): string[] {
  const names = header.split(",").map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== "" && name !== "identity");
}

/** True for an error of a decoder: the bytes are not what their coding says, or end early. */
export const isBrokenCoding = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /^(?:Z_|ERR__ERROR_|ERR_BROTLI|ZSTD_)/.test(String(error.code));

type Chunks = AsyncIterable<Uint8Array<ArrayBuffer>>;

/** Undoes one coding. A body without bytes stays empty: servers send the header with it, and for HEAD. */
async function* decode(source: Chunks, coding: string, bound: Bound): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const chunks = source[Symbol.asyncIterator]();
  let head = await chunks.next();
  while (!head.done && head.value.length === 0) head = await chunks.next();
  if (head.done) return;

  const first = head.value;
  const decoder = DECODERS.get(coding)?.(first);
  if (!decoder) {
    await chunks.return?.();
    throw new UnknownContentCoding(coding);
  }

  async function* all() {
    yield first;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  let bytes = 0;
  // An error of the source reaches the reader of the decoder.
  for await (const chunk of pipeline(all, decoder, () => undefined) as unknown as Chunks) {
    bytes += chunk.length;
    if (bytes > bound.maxBytes) throw bound.tooLong();
    yield chunk;
  }
}

interface Bound {
  /** Of each coding's result, so that a chain of codings is bounded as well. */
  maxBytes: number;
  tooLong: () => Error;
}

/**
 * Undoes the codings of a body, as it comes and outside the main thread.
 * @param header the value of Content-Encoding
 * @throws UnknownContentCoding; the error of `bound`; an error for which `isBrokenCoding` is true
 */
export function unpackContent(source: Chunks, header: string | null | undefined, bound: Bound): Chunks {
  const codings = codingsOf(header ?? "");
  if (codings.length > MAX_CODINGS) return decode(source, codings.join(", "), bound);
  return codings.reverse().reduce((packed, coding) => decode(packed, coding, bound), source);
}
