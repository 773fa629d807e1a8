import { stepOf, totp } from "#server/features/security/totp.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** The code that an authenticator app shows for a secret. @param ahead so many steps of 30 seconds from now */
export function codeNow(secret: string, ahead = 0): string {
  const bits = [...secret].map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, "0")).join("");
  const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  return totp(Uint8Array.from(bytes), stepOf(new Date()) + ahead);
}
