import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** True when PostgreSQL takes the text as a uuid. Ask before any query: a malformed id is simply not found. */
export const isUuid = (text: string): boolean => UUID.test(text);

const WITHIN = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;
const BEGINNING = /^[0-9a-f]{8}[0-9a-f-]{0,28}$/i;

/**
 * What a text that is searched for says of an id: a whole one anywhere in it, such as in an address, or one's first eight digits or
 * more.
 * @returns first and last of the ids that begin so; null when nothing like an id is in it
 */
export function idRange(text: string): [string, string] | null {
  const beginning = WITHIN.exec(text)?.[0] ?? BEGINNING.exec(text.trim())?.[0];
  const digits = beginning?.replaceAll("-", "").toLowerCase();
  return digits === undefined || digits.length > 32 ? null : [digits.padEnd(32, "0"), digits.padEnd(32, "f")];
}

const BYTES = 16;
const random = Buffer.alloc(256 * BYTES);
let used = random.length;
let msecs = 0;
let seq = 0;

/**
 * A UUID of version 7: of the ids that this process makes, each sorts after the one before it. For the hot paths:
 * asking for random bytes for each id, as the library does, costs several times as much.
 */
export function newId(): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  const bytes = random.subarray(used, used + BYTES);
  used += BYTES;
  const now = Date.now();
  if (now > msecs) {
    msecs = now;
    seq = bytes.readUInt32BE(0) >>> 1;
  } else if (++seq > 0xffff_ffff) {
    seq = 0;
    msecs++;
  }
  return v7({ random: bytes, msecs, seq });
}
