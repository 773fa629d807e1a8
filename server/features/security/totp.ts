import { createHmac } from "node:crypto";

// Codes of authenticator apps: RFC 6238 with what all of them understand, six digits, 30 seconds, SHA-1. SHA-1 is sound as an HMAC.

const STEP_SECONDS = 30;
const DIGITS = 6;
/** A clock may be off by one step either way, and a code may take a while to be typed (RFC 6238, 5.2). */
const SKEW = 1;

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Bytes in Base32 (RFC 4648), without padding. */
export function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? []).map((five) => ALPHABET[Number.parseInt(five.padEnd(5, "0"), 2)]).join("");
}

/** The time step that a moment is in. */
export const stepOf = (now: Date): number => Math.floor(now.getTime() / 1000 / STEP_SECONDS);

/** The code of a secret at a time step, with its leading zeros (RFC 4226, 5.3). */
export function totp(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const number = mac.readUInt32BE((mac.at(-1) ?? 0) & 0x0f) & 0x7fffffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, "0");
}

/** The time step that a code belongs to, of those that are good now; undefined for a wrong one. */
export function stepOfCode(secret: Uint8Array, code: string, now: Date): number | undefined {
  const here = stepOf(now);
  const steps = Array.from({ length: 2 * SKEW + 1 }, (_, index) => here - SKEW + index);
  return steps.find((step) => totp(secret, step) === code);
}

/** What an authenticator app reads from the picture: https://github.com/google/google-authenticator/wiki/Key-Uri-Format. */
export function totpUri(secret: string, account: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}&digits=${DIGITS}&period=${STEP_SECONDS}`;
}
