const END = 0x06054b50;
const ENTRY = 0x02014b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const MOST_COMMENT = 65_535;

/**
 * What a ZIP file says that it holds, unpacked, in bytes; read from its directory, without unpacking anything.
 * @returns undefined when it is no ZIP file, or one of the 64-bit kind
 */
export function unpackedSize(bytes: Uint8Array): number | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let end = view.length - END_BYTES;
  const last = Math.max(0, end - MOST_COMMENT);
  while (end >= last && view.readUInt32LE(end) !== END) end -= 1;
  if (end < last) return undefined;
  const count = view.readUInt16LE(end + 10);
  let at = view.readUInt32LE(end + 16);
  let total = 0;
  for (let index = 0; index < count; index++) {
    if (at + ENTRY_BYTES > view.length || view.readUInt32LE(at) !== ENTRY) return undefined;
    const size = view.readUInt32LE(at + 24);
    if (size === 0xffffffff) return undefined;
    total += size;
    at += ENTRY_BYTES + view.readUInt16LE(at + 28) + view.readUInt16LE(at + 30) + view.readUInt16LE(at + 32);
  }
  return total;
}
