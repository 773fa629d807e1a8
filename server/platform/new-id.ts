import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** True when PostgreSQL takes the text as a uuid. Ask before any query: a malformed id is simply not found. */
export const isUuid = (text: string): boolean => UUID.test(text);

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
