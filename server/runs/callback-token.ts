import { keyedHash, sha256 } from "#server/platform/secrets.ts";
import { appUrl } from "#server/platform/settings.ts";

// What may resolve a callback: 16 bytes of the wait's id and 32 that follow from it under ENCRYPTION_KEY, as 64 URL-safe characters.
// Only its hash is kept, so that what is stored lets nobody in; whoever may see the run is shown it again.

const ID_BYTES = 16;
const SECRET_BYTES = 32;

/** The token of the wait with this id. */
const callbackToken = (wait_id: string): string =>
  Buffer.from(wait_id.replaceAll("-", "") + keyedHash(`callback ${wait_id}`), "hex").toString("base64url");

/** The token of the wait with this id, and the address to which it is sent. */
export function callbackOf(wait_id: string): { token: string; url: string } {
  const token = callbackToken(wait_id);
  return { token, url: `${appUrl()}/api/v1/resume/${token}` };
}

/** SHA-256 of a token, in hexadecimal. Its 256 bits need no salt. */
export const tokenHash = sha256;

/** Id of the wait that a token names, or null for what is no token. Whether it is the right one, its hash says. */
export function waitOfToken(token: string): string | null {
  const bytes = Buffer.from(token, "base64url");
  if (bytes.length !== ID_BYTES + SECRET_BYTES) return null;
  return bytes.toString("hex", 0, ID_BYTES).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
