import { inflateRawSync } from "node:zlib";

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const MOST_COMMENT = 65_535;
const STORED = 0;
const DEFLATED = 8;

/** What one packed file unpacks to, in bytes; infinite when that is more than `most`, or it is damaged. */
function sizeOf(packed: Buffer, method: number, most: number): number {
  if (method === STORED) return packed.length;
  if (method !== DEFLATED) return Number.POSITIVE_INFINITY;
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, most) }).length;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * Whether a ZIP file unpacks to no more than `most` bytes. Each file in it is unpacked to know, one at a time, since what
 * the directory says of their sizes may be untrue.
 * @returns false also for what is no ZIP file, is damaged, or of the 64-bit kind
 */
export function unpacksWithin(bytes: Uint8Array, most: number): boolean {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let end = view.length - END_BYTES;
  const last = Math.max(0, end - MOST_COMMENT);
  while (end >= last && view.readUInt32LE(end) !== END) end -= 1;
  if (end < last) return false;
  // Numbers of disks: of the 64-bit kind, or of a file in several parts, a reader would look elsewhere than we do.
  if (view.readUInt32LE(end + 4) !== 0) return false;
  const count = view.readUInt16LE(end + 10);
  let at = view.readUInt32LE(end + 16);
  let left = most;
  for (let index = 0; index < count; index++) {
    if (at + ENTRY_BYTES > view.length || view.readUInt32LE(at) !== ENTRY) return false;
    const [packedSize, claimed, local] = [view.readUInt32LE(at + 20), view.readUInt32LE(at + 24), view.readUInt32LE(at + 42)];
    if (claimed > left || local + LOCAL_BYTES > view.length || view.readUInt32LE(local) !== LOCAL) return false;
    const from = local + LOCAL_BYTES + view.readUInt16LE(local + 26) + view.readUInt16LE(local + 28);
    if (from + packedSize > view.length) return false;
    left -= sizeOf(view.subarray(from, from + packedSize), view.readUInt16LE(at + 10), left);
    if (left < 0) return false;
    at += ENTRY_BYTES + view.readUInt16LE(at + 28) + view.readUInt16LE(at + 30) + view.readUInt16LE(at + 32);
  }
  return true;
}
