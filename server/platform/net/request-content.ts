import { charsetOf, decoderOf } from "#server/platform/charset.ts";
import { MAX_OBJECT_KEYS, parseCleanJson } from "#server/platform/clean-text.ts";
import { AppError } from "#server/platform/errors.ts";
import { isBrokenCoding, UnknownContentCoding, unpackContent } from "#server/platform/net/content-coding.ts";
import { settings } from "#server/platform/settings.ts";
import { parseJson } from "#server/shared/json-text.ts";
import { shorten } from "#server/shared/shorten.ts";

/** Parts of one multipart body. */
const MAX_PARTS = 1000;
/** Headers of one part, in bytes: a name and a media type. The parser takes 70 ms for each MiB of them. */
const MAX_PART_HEADERS = 16 * 1024;

/** Body of a request that starts a run. */
export interface RequestContent {
  /** JSON, unchecked where the body is declared as JSON: of a form its fields, of other text a string. */
  json: string;
  /** Text as sent; undefined for multipart/form-data, whose files are no text. */
  raw: string | undefined;
}

const mediaTypeOf = (contentType: string | null): string => (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
const isJsonType = (type: string): boolean => /^application\/(?:[^+]+\+)?json$/.test(type);

const unsupported = (message: string, cause: unknown) => new AppError("UNSUPPORTED_MEDIA_TYPE", message, { cause });

async function unpack(bytes: Uint8Array, header: string | null): Promise<Uint8Array> {
  if (header === null) return bytes;
  const maxBytes = settings().MAX_BODY_BYTES;
  const tooLong = () =>
    new AppError("PAYLOAD_TOO_LARGE", `The body unpacks to more than the limit of ${maxBytes} bytes. Send less at once.`);
  async function* source() {
    yield new Uint8Array(bytes);
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of unpackContent(source(), header, { maxBytes, tooLong })) {
      length += chunk.length;
      if (length > maxBytes) throw tooLong();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof UnknownContentCoding) throw unsupported(error.message, error);
    if (!isBrokenCoding(error)) throw error;
    const message = `The body cannot be unpacked as its header Content-Encoding says (${shorten(header, 60)}). Check how it was packed.`;
    throw new AppError("BAD_REQUEST", message, { cause: error });
  }
  return Buffer.concat(chunks);
}

/** @throws AppError UNSUPPORTED_MEDIA_TYPE for an unknown charset */
function strictDecoder(bytes: Uint8Array, contentType: string | null): TextDecoder {
  try {
    return decoderOf(bytes, contentType, false);
  } catch (cause) {
    const charset = charsetOf(contentType) ?? "that it declares";
    throw unsupported(`The charset ${shorten(charset, 60)} of the body is unknown. Send the body in UTF-8.`, cause);
  }
}

function isJson(text: string): boolean {
  try {
    parseCleanJson(text, parseJson);
    return true;
  } catch {
    return false;
  }
}

const tooManyFields = (most: number) => new AppError("VALIDATION_ERROR", `The form has more than ${most} fields. Send fewer.`);

type Field = [name: string, value: unknown];

/** Fields as a JSON object, with a list for a repeated name. One field `payload` with JSON, which GitHub and Slack send, gives that. */
function fieldsJson(fields: readonly Field[]): string {
  const values = new Map<string, unknown[]>();
  for (const [name, value] of fields) {
    const all = values.get(name);
    if (all) all.push(value);
    else values.set(name, [value]);
  }
  const payload = values.size === 1 ? values.get("payload") : undefined;
  const only = payload?.length === 1 ? payload[0] : undefined;
  if (typeof only === "string" && isJson(only)) return only;
  return JSON.stringify(Object.fromEntries([...values].map(([name, all]) => [name, all.length === 1 ? all[0] : all])));
}

const hexDigit = (byte: number | undefined): number => {
  if (byte === undefined) return Number.NaN;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
};

/** Undoes percent-encoding, with `+` as a blank. A pattern with a callback would take half a second for 4 MiB. */
function percentDecoded(part: string): Buffer {
  const bytes = Buffer.from(part, "latin1");
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    const code = byte === 0x25 ? hexDigit(bytes[at + 1]) * 16 + hexDigit(bytes[at + 2]) : Number.NaN;
    if (!Number.isNaN(code)) at += 2;
    bytes[length++] = Number.isNaN(code) ? (byte === 0x2b ? 0x20 : byte) : code;
  }
  return bytes.subarray(0, length);
}

/** Decodes the fields, or returns undefined when their bytes are not in the charset. @throws RangeError for an unknown charset */
function decodedFields(pairs: readonly string[], charset: string): [name: string, value: string][] | undefined {
  const decoder = new TextDecoder(charset, { fatal: true });
  const decoded = (part: string): string => decoder.decode(percentDecoded(part));
  try {
    return pairs.map((pair) => {
      const at = pair.indexOf("=");
      return at < 0 ? [decoded(pair), ""] : [decoded(pair.slice(0, at)), decoded(pair.slice(at + 1))];
    });
  } catch {
    return undefined;
  }
}

/** Fields in which a form names its charset: `_charset_` of the HTML standard, and `charset` of PayPal's notifications. */
const CHARSET_FIELD = /^(?:_charset_|charset)=([\w.:-]{1,40})$/i;

/**
 * Reads a form whose percent-encoded bytes are in this charset, or in the one that a field of the form names.
 * @throws AppError BAD_REQUEST for bytes in neither; UNSUPPORTED_MEDIA_TYPE; VALIDATION_ERROR for too many fields
 */
function formJson(bytes: Uint8Array, charset: string): string {
  const pairs = Buffer.from(bytes)
    .toString("latin1")
    .split("&", MAX_OBJECT_KEYS + 1);
  if (pairs.length > MAX_OBJECT_KEYS) throw tooManyFields(MAX_OBJECT_KEYS);

  const filled = pairs.filter(Boolean);
  const fields = decodedFields(filled, charset);
  if (fields) return fieldsJson(fields);

  const named = filled.map((pair) => CHARSET_FIELD.exec(pair)?.[1]).find((name) => name !== undefined);
  try {
    const others = named && decodedFields(filled, named);
    if (others) return fieldsJson(others);
  } catch (cause) {
    throw unsupported(`The charset ${named} of the form is unknown. Send the form in UTF-8.`, cause);
  }
  throw new AppError(
    "BAD_REQUEST",
    `The form is not text in ${named ?? charset}. Send it in UTF-8, or name its charset in the field _charset_.`,
  );
}

const unreadableForm = (cause?: unknown) =>
  new AppError("BAD_REQUEST", "The form cannot be read. Send multipart/form-data with its boundary.", { cause });

/** @throws AppError VALIDATION_ERROR for more parts, or longer headers of a part, than are read */
function assertPartBounds(bytes: Uint8Array, boundary: string): void {
  const delimiter = `--${boundary}`;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  for (let at = buffer.indexOf(delimiter); at >= 0; at = buffer.indexOf(delimiter, at + delimiter.length)) {
    if (++count > MAX_PARTS + 1) throw tooManyFields(MAX_PARTS);
    const head = buffer.subarray(at, at + delimiter.length + MAX_PART_HEADERS);
    const isLast = head.subarray(delimiter.length).indexOf("--") === 0;
    if (!isLast && head.length > MAX_PART_HEADERS && !head.includes("\r\n\r\n"))
      throw new AppError("VALIDATION_ERROR", `A part of the form has headers of more than ${MAX_PART_HEADERS} bytes. Send shorter ones.`);
  }
}

/** @throws AppError BAD_REQUEST, VALIDATION_ERROR */
async function multipartJson(bytes: Uint8Array, contentType: string): Promise<string> {
  const [, quoted, plain = ""] = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === "") throw unreadableForm();
  assertPartBounds(bytes, boundary);
  let form: FormData;
  try {
    // The parser gets the boundary that was checked: in a header with several it could take another.
    const headers = { "content-type": `multipart/form-data; boundary="${boundary}"` };
    form = await new Response(new Uint8Array(bytes), { headers }).formData();
  } catch (cause) {
    throw unreadableForm(cause);
  }
  return fieldsJson(
    [...form].map(([name, value]) => [
      name,
      typeof value === "string" ? value : { name: value.name, size: value.size, type: value.type || "application/octet-stream" },
    ]),
  );
}

/**
 * Reads the body of a request by its headers: unpacked within MAX_BODY_BYTES, decoded by its charset, a form as its fields. What is JSON
 * counts as JSON whatever its type, since `curl -d` declares a form.
 * @param bytes as they were sent
 * @throws AppError UNSUPPORTED_MEDIA_TYPE for an unknown encoding or charset; BAD_REQUEST for bytes that are not what they are declared as;
 *   PAYLOAD_TOO_LARGE; VALIDATION_ERROR for a form with too many fields
 */
export async function readContent(headers: Headers, bytes: Uint8Array): Promise<RequestContent> {
  const contentType = headers.get("content-type");
  const type = mediaTypeOf(contentType);
  const body = await unpack(bytes, headers.get("content-encoding"));
  if (body.byteLength === 0) return { json: '""', raw: "" };
  if (contentType !== null && type === "multipart/form-data") return { json: await multipartJson(body, contentType), raw: undefined };

  const decoder = strictDecoder(body, contentType);
  let raw: string;
  try {
    raw = decoder.decode(body);
  } catch (cause) {
    const message = `The body is not text in ${decoder.encoding}. Send it in UTF-8, or name its charset in the header Content-Type.`;
    throw new AppError("BAD_REQUEST", message, { cause });
  }

  if (isJsonType(type) || isJson(raw)) return { json: raw, raw };
  if (type === "application/x-www-form-urlencoded") return { json: formJson(body, decoder.encoding), raw };
  return { json: JSON.stringify(raw), raw };
}
