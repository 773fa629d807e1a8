import { charsetByMark } from "#server/platform/charset.ts";

/** Encodings that detection chooses from, and how TextDecoder calls those that it knows by another name. */
const DETECTED: Record<string, string> = {
  gb18030: "gb18030",
  big5: "big5",
  cp932: "shift_jis",
  "euc-jp": "euc-jp",
  cp949: "euc-kr",
  cp874: "windows-874",
  "koi8-r": "koi8-r",
  ...Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`windows-125${index}`, `windows-125${index}`])),
};
const FALLBACK = "windows-1252";

/** Length of the text that detection looks at, in bytes: it takes about 50 ms for these. */
const MAX_SAMPLE = 64 * 1024;
/** Bytes of a line that are kept before its first one beyond ASCII: accented letters are judged by their neighbours. */
const SAMPLE_LEAD = 64;
const NEW_LINE = 0x0a;
/** Below this a guess rests on a character or two. */
const MIN_CONFIDENCE = 0.015;

export interface DecodedText {
  text: string;
  /** Canonical name in the WHATWG Encoding Standard. */
  charset: string;
}

/** @throws RangeError for an unknown charset; TypeError for malformed bytes when `fatal` */
export function decodeBy(bytes: Uint8Array, charset: string, fatal = false): DecodedText {
  const decoder = new TextDecoder(charset, { fatal });
  return { text: decoder.decode(bytes), charset: decoder.encoding };
}

function tryDecode(bytes: Uint8Array, charset: string, fatal: boolean): DecodedText | undefined {
  try {
    return decodeBy(bytes, charset, fatal);
  } catch {
    return undefined;
  }
}

/** True when at least as many characters beyond ASCII could be read as could not. */
function isMostlyRead(text: string): boolean {
  let readable = 0;
  let damaged = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0xfffd) damaged++;
    else if (code > 0x7f) readable++;
  }
  return readable > 0 && readable >= damaged;
}

/** The lines with bytes beyond ASCII: many lines without would make every encoding as likely as the others. */
function sampleOf(bytes: Uint8Array): Uint8Array {
  const lines: Uint8Array[] = [];
  let length = 0;
  let at = 0;
  while (at < bytes.length && length < MAX_SAMPLE) {
    const newLine = bytes.indexOf(NEW_LINE, at);
    const end = newLine < 0 ? bytes.length : newLine + 1;
    let first = at;
    while (first < end && (bytes[first] ?? 0) <= 0x7f) first++;
    if (first < end) {
      const line = bytes.subarray(Math.max(at, first - SAMPLE_LEAD), end).subarray(0, MAX_SAMPLE - length);
      lines.push(line);
      length += line.length;
    }
    at = end;
  }
  return Buffer.concat(lines);
}

async function detect(bytes: Uint8Array): Promise<string> {
  const { detect: guess } = await import("jschardet");
  const { encoding, confidence } = guess(sampleOf(bytes), { detectEncodings: Object.keys(DETECTED) });
  return (confidence >= MIN_CONFIDENCE && DETECTED[encoding?.toLowerCase() ?? ""]) || FALLBACK;
}

/**
 * Decodes text by its byte order mark, then its declared encoding, then UTF-8, also where some bytes are damaged (U+FFFD); what fits
 * none of them, by a guess.
 * @param declared charset that its sender or the document itself names
 */
export async function decodeText(bytes: Uint8Array, declared?: string): Promise<DecodedText> {
  const mark = charsetByMark(bytes);
  const stated = [mark, declared, "utf-8"].filter((encoding) => encoding !== undefined);
  for (const encoding of stated) {
    const decoded = tryDecode(bytes, encoding, true);
    if (decoded) return decoded;
  }

  if (mark) return decodeBy(bytes, mark);
  // UTF-8 first: bytes of other encodings hardly ever look like it, while those of UTF-8 look like many others.
  for (const encoding of ["utf-8", ...stated]) {
    const decoded = tryDecode(bytes, encoding, false);
    if (decoded && isMostlyRead(decoded.text)) return decoded;
  }

  return decodeBy(bytes, await detect(bytes));
}
