import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import { hash, verify } from "@node-rs/argon2";
import { LRUCache } from "lru-cache";
import { AppError } from "#server/platform/errors.ts";
import { settings } from "#server/platform/settings.ts";
import { inTimeSlices } from "#server/platform/time-slice.ts";

const VERSION = "v1";
const IV_BYTES = 12;
const TAG_BYTES = 16;

const derived = new Map<string, KeyObject>();

/** 32 bytes out of ENCRYPTION_KEY for one purpose, whatever its length and alphabet. */
function keyFor(purpose: "seal" | "hash"): KeyObject {
  const { ENCRYPTION_KEY } = settings();
  if (!ENCRYPTION_KEY) throw new Error("ENCRYPTION_KEY is not known yet: server/main.ts sets it at start.");
  const name = `${purpose} ${ENCRYPTION_KEY}`;
  let key = derived.get(name);
  if (!key) {
    key = createSecretKey(new Uint8Array(hkdfSync("sha256", ENCRYPTION_KEY, "", `treadle ${purpose} v1`, 32)));
    derived.set(name, key);
  }
  return key;
}

/**
 * Encrypts a secret for storage: AES-256-GCM under ENCRYPTION_KEY, a new nonce each time.
 * @returns `v1.` and base64url of nonce, tag and ciphertext
 */
export function seal(secret: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", keyFor("seal"), iv);
  const text = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
  return `${VERSION}.${Buffer.concat([iv, cipher.getAuthTag(), text]).toString("base64url")}`;
}

/**
 * The secret behind what `seal` returned.
 * @throws AppError INTERNAL_ERROR when it was altered, or sealed under another ENCRYPTION_KEY
 */
export function unseal(sealed: string): string {
  const [version, body] = sealed.split(".");
  const bytes = Buffer.from(body ?? "", "base64url");
  if (version !== VERSION || bytes.length < IV_BYTES + TAG_BYTES) throw unreadable();
  const decipher = createDecipheriv("aes-256-gcm", keyFor("seal"), bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString("utf8");
  } catch (cause) {
    throw unreadable(cause);
  }
}

/** A secret that was replaced stays in memory for a minute at most, also when nobody asks for it again. */
const opened = new LRUCache<string, string>({ max: 200, ttl: 60_000, ttlAutopurge: true });

/**
 * The same, kept open for a minute: for what every call needs, where opening it costs more than its use.
 * @throws as `unseal`
 */
export function unsealOften(sealed: string): string {
  const known = opened.get(sealed);
  if (known !== undefined) return known;
  const secret = unseal(sealed);
  opened.set(sealed, secret);
  return secret;
}

const unreadable = (cause?: unknown) =>
  new AppError("INTERNAL_ERROR", "A stored secret cannot be read: it was sealed under another ENCRYPTION_KEY, or altered.", { cause });

/** Hex SHA-256 of a random token or key, for storage and lookup. Not for passwords: see `hashPassword`. */
export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Hex HMAC-SHA256 under ENCRYPTION_KEY: recognises what may hold something guessable, of which a plain hash would let one try. */
export const keyedHash = (content: string | Uint8Array): string => createHmac("sha256", keyFor("hash")).update(content).digest("hex");

/** The same of content that comes in pieces, in slices of time. */
export function keyedHashInSlices(pieces: Iterable<string | Uint8Array>): Promise<string> {
  const sum = createHmac("sha256", keyFor("hash"));
  return inTimeSlices(
    (function* () {
      for (const piece of pieces) {
        sum.update(piece);
        yield;
      }
      return sum.digest("hex");
    })(),
  );
}

/** Compares two secrets without telling by its duration where they differ. */
export function isSameSecret(a: string, b: string): boolean {
  return timingSafeEqual(createHash("sha256").update(a).digest(), createHash("sha256").update(b).digest());
}

/** 256 random bits as 43 URL-safe characters. */
export const randomToken = (): string => randomBytes(32).toString("base64url");

/** A new platform key: `sk-service-` and 43 URL-safe characters. */
export const generatePlatformKey = (): string => `sk-service-${randomToken()}`;

/** What is stored of a platform key: its hash, and how it begins, so that people tell it from their others. */
export const storedPlatformKey = (key: string): { key_hash: string; prefix: string } => ({
  key_hash: sha256(key),
  prefix: key.slice(0, 17),
});

/** Argon2id of a password, with its salt and parameters in the text. */
export const hashPassword = (password: string): Promise<string> => hash(password);

/** True when the password is the one behind the hash; false also for a text that is no hash. */
export const isPassword = (passwordHash: string, password: string): Promise<boolean> => verify(passwordHash, password).catch(() => false);

/** What a list shows of a secret: its beginning and its end, and of a short one nothing. */
export function maskSecret(secret: string): string {
  if (secret.length < 16) return "••••";
  return `${secret.slice(0, 3)}••••${secret.slice(-4)}`;
}
