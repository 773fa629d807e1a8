import { createHash, randomBytes } from "node:crypto";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

function encode(time: number, random: Uint8Array): string {
  let head = "";
  let rest = time;
  for (let i = 0; i < 10; i++) {
    head = ALPHABET.charAt(rest % 32) + head;
    rest = Math.floor(rest / 32);
  }
  let tail = "";
  for (let i = 0; i < 16; i++) tail += ALPHABET.charAt((random[i] ?? 0) & 31);
  return head + tail;
}

/** A new ULID: ids made later sort behind. @param time milliseconds since 1970 */
export const ulid = (time: number): string => encode(time, randomBytes(16));

/**
 * The id of an event that came without one. The SDK sends the same seed when it repeats a request, so that a
 * repeated request stores nothing twice.
 * @param seed header x-inngest-event-id-seed, "<milliseconds>,<random>"; null makes a random id
 * @param index the event's place in the request
 */
export function eventId(seed: string | null, index: number, now: number): string {
  if (!seed) return ulid(now);
  const time = Number(seed.split(",")[0]);
  return encode(Number.isFinite(time) && time > 0 ? time : now, createHash("sha256").update(`${seed},${index}`).digest());
}
