/** Returns the charset of a byte order mark, which comes before all declarations. */
export function charsetByMark(bytes: Uint8Array): string | undefined {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

/** Returns the charset that a Content-Type names. */
export const charsetOf = (contentType: string | null | undefined): string | undefined =>
  /;\s*charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType ?? "")?.[1];

/** Returns the charset that a page or an XML file names for itself, near its beginning. */
export function ownCharset(bytes: Uint8Array): string | undefined {
  const beginning = Buffer.from(bytes.subarray(0, 4096)).toString("latin1");
  const name = /<meta[^>]{0,200}?charset\s*=\s*(?:["']\s*)?([\w-]+)|^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w-]+)/i.exec(beginning);
  const charset = name?.[1] ?? name?.[2];
  // Bytes in which the declaration can be read are not UTF-16, whatever it says.
  return charset && /^utf-?16/i.test(charset) ? "utf-8" : charset;
}

const isMarkup = (type: string): boolean => /^\s*(?:text\/html|(?:application|text)\/(?:[\w.-]+\+)?xml)\s*(?:;|$)/i.test(type);

/**
 * Returns the decoder of a text: by its byte order mark, else by its Content-Type, else by what HTML or XML declares for itself,
 * else of UTF-8.
 * @param isLenient skips a charset that has no decoder, and replaces broken bytes by U+FFFD
 * @throws RangeError for a charset that has no decoder
 */
export function decoderOf(bytes: Uint8Array, contentType: string | null | undefined, isLenient: boolean): TextDecoder {
  const own = !contentType || isMarkup(contentType) ? ownCharset(bytes) : undefined;
  for (const charset of [charsetByMark(bytes), charsetOf(contentType), own]) {
    if (charset === undefined) continue;
    try {
      return new TextDecoder(charset, { fatal: !isLenient });
    } catch (error) {
      if (!isLenient) throw error;
    }
  }
  return new TextDecoder("utf-8", { fatal: !isLenient });
}
