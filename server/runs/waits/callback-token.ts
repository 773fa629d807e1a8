import { createHash, randomBytes } from "node:crypto";

// What may resolve a callback: 16 bytes of the wait's id and 32 random ones, as 64 URL-safe characters. Only its hash is kept.

const ID_BYTES = 16;
const SECRET_BYTES = 32;

/** A new token for the wait with this id. */
export const newCallbackToken = (wait_id: string): string =>
  Buffer.concat([Buffer.from(wait_id.replaceAll("-", ""), "hex"), randomBytes(SECRET_BYTES)]).toString("base64url");

/** SHA-256 of a token, in hexadecimal. Its 256 random bits need no salt. */
export const tokenHash = (token: string): string => createHash("sha256").update(token).digest("hex");

/** Id of the wait that a token names, or null for what is no token. Whether it is the right one, its hash says. */
export function waitOfToken(token: string): string | null {
  const bytes = Buffer.from(token, "base64url");
  if (bytes.length !== ID_BYTES + SECRET_BYTES) return null;
  return bytes.toString("hex", 0, ID_BYTES).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
