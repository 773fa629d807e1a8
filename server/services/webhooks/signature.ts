import { createHmac, timingSafeEqual } from "node:crypto";

const SHAPE = /^sha256=([0-9a-f]{64})$/i;

/** Whether a header can be a signature at all; without one the body need not be read. */
export const isSignature = (header: string | null): header is string => SHAPE.test(header?.trim() ?? "");

/**
 * Whether a header is the signature of a body (specification, Webhooks): `sha256=` and the hex HMAC-SHA256 of the raw
 * bytes. Compared in constant time.
 */
export function isSigned(body: Uint8Array, header: string | null, secret: string): boolean {
  const hex = SHAPE.exec(header?.trim() ?? "")?.[1];
  const expected = createHmac("sha256", secret).update(body).digest();
  return hex !== undefined && timingSafeEqual(Buffer.from(hex, "hex"), expected);
}
