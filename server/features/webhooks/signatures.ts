import { createHmac } from "node:crypto";
import { isSameSecret } from "#server/platform/secrets.ts";
import { parseJson } from "#server/shared/json-text.ts";
import type { WebhookAuth } from "#server/workflow/nodes/trigger-node.ts";

/** Settings of a trigger about its sender; the secret is kept apart. */
export interface SenderConfig {
  auth: WebhookAuth;
  auth_header: string;
  auth_username: string;
  verify_token: string;
}

/** Request of a sender without its body. */
export interface Head {
  method: string;
  headers: Headers;
  query: URLSearchParams;
  /** Addresses by which the sender may have called, with the query as sent. */
  urls: readonly string[];
}

export interface Call extends Head {
  /** Bytes as sent, which signatures cover. */
  body: Uint8Array;
  secret: string;
  config: SenderConfig;
  /** Current time in ms since 1970. */
  now: number;
}

/** Result of a check: no proof, a wrong one, a right one with a wrong time, a right one. */
export type Proof = "missing" | "wrong" | "late" | "good";

/** Greatest difference between a sender's timestamp and the clock, in ms. */
export const TOLERANCE_MS = 5 * 60_000;

/** Characters of a signature's header that are read. */
const MAX_HEADER_LENGTH = 4000;

/** Returns the trimmed value of a header; empty without it. */
export const headerText = (headers: Headers, name: string): string => headers.get(name)?.trim() ?? "";

/** Returns the value at a path of names and indexes in a JSON value; undefined where there is none. */
export const fieldIn = (value: unknown, ...path: (string | number)[]): unknown =>
  path.reduce<unknown>((part, name) => (Object.hasOwn(Object(part), name) ? Object(part)[name] : undefined), value);

/** Parses a body; undefined for one that is longer or not JSON. */
export function parsedBody(body: Uint8Array, maxBytes = Number.POSITIVE_INFINITY): unknown {
  if (body.byteLength > maxBytes) return undefined;
  try {
    return parseJson(new TextDecoder().decode(body));
  } catch {
    return undefined; // reading the body for the run reports the error
  }
}

/** HMAC of a text in parts. */
export function hmac(key: string | Buffer, parts: readonly (string | Uint8Array)[], algorithm: "sha1" | "sha256" = "sha256"): Buffer {
  const hash = createHmac(algorithm, key);
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** Returns seconds since 1970 in ms; NaN for anything else. */
export const secondsIn = (text: string): number => (/^\d{1,12}$/.test(text) ? Number(text) * 1000 : Number.NaN);

/** Signature scheme of a sender that uses an HMAC. */
interface Scheme {
  /** Header with the signature. */
  header: string | ((headers: Headers) => string);
  /** Text before the digest. */
  prefix?: string;
  /** Digests in the header, where it can hold several; any right one counts. */
  digestsIn?(text: string): string[];
  algorithm?: "sha1" | "sha256";
  encoding: "hex" | "base64";
  /** Left out, the secret is the key. */
  keyOf?(secret: string): string | Buffer;
  /** Texts of which one is signed, each in parts; left out, the body. */
  signed?(call: Call): (string | Uint8Array)[][];
  /** Time of sending in ms, NaN when it is missing or unreadable, undefined where the sender may leave it out. */
  sentAt?(call: Call): number | undefined;
  toleranceMs?: number;
}

/** Returns the checks of a sender that signs with an HMAC. Compares in constant time. */
export function signedBy({ header, prefix = "", digestsIn, encoding, toleranceMs = TOLERANCE_MS, ...scheme }: Scheme) {
  const headerOf = (headers: Headers) => (typeof header === "string" ? header : header(headers));
  const valueIn = (headers: Headers): string | undefined => {
    const text = headerText(headers, headerOf(headers));
    return text !== "" && text.toLowerCase().startsWith(prefix) ? text.slice(prefix.length, MAX_HEADER_LENGTH) : undefined;
  };
  const folded = (digest: string) => (encoding === "hex" ? digest.toLowerCase() : digest);

  return {
    toleranceMs,
    hidden: ({ headers }: Pick<Head, "headers">) => [headerOf(headers)],
    isOffered: ({ headers }: Pick<Head, "headers">) => valueIn(headers) !== undefined,
    check(call: Call): Proof {
      const value = valueIn(call.headers) ?? "";
      const digests = digestsIn ? digestsIn(value) : [value];
      const key = scheme.keyOf?.(call.secret) ?? call.secret;
      const texts = scheme.signed ? scheme.signed(call) : [[call.body]];
      const right = texts.map((parts) => hmac(key, parts, scheme.algorithm).toString(encoding));
      // Every pair is compared, so that the time does not tell which one is right.
      const matches = right.flatMap((expected) => digests.map((digest) => isSameSecret(folded(digest), expected)));
      if (!matches.includes(true)) return "wrong";

      const sentAt = scheme.sentAt?.(call);
      return sentAt === undefined || Math.abs(call.now - sentAt) <= toleranceMs ? "good" : "late";
    },
  };
}

/** Returns the checks of a sender that sends the secret itself, in one of several places. Compares in constant time. */
export function sentBy(textsIn: (call: Head, config: SenderConfig) => string[], ...hidden: string[]) {
  return {
    sendsSecret: true as const,
    hidden: () => hidden,
    isOffered: (call: Head, config: SenderConfig) => textsIn(call, config).some((text) => text !== ""),
    check(call: Call): Proof {
      const matches = textsIn(call, call.config).map((text) => isSameSecret(text, call.secret));
      return matches.includes(true) ? "good" : "wrong";
    },
  };
}
