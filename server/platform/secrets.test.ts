import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  generatePlatformKey,
  hashPassword,
  isPassword,
  isSameSecret,
  maskSecret,
  randomToken,
  seal,
  sha256,
  unseal,
} from "#server/platform/secrets.ts";
import { setSettings } from "#server/platform/settings.ts";

const before = process.env.ENCRYPTION_KEY ?? "";
beforeEach(() => setSettings({ ENCRYPTION_KEY: "first key of the install, 32 chars" }));
afterEach(() => setSettings({ ENCRYPTION_KEY: before }));

test("any text comes back as it was sealed", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => unseal(seal(text)) === Buffer.from(text, "utf8").toString("utf8")));
});

test("sealing the same secret twice gives different texts, and neither holds the secret", () => {
  const [first, second] = [seal("sk-a-very-secret-key"), seal("sk-a-very-secret-key")];
  expect(first).not.toBe(second);
  expect(first).toMatch(/^v1\.[A-Za-z0-9_-]+$/);
  expect(Buffer.from(first.slice(3), "base64url").toString("latin1")).not.toContain("secret");
});

test("a sealed text that was altered anywhere is refused", () => {
  const sealed = seal("hello");
  const bytes = Buffer.from(sealed.slice(3), "base64url");
  for (let at = 0; at < bytes.length; at++) {
    const altered = Buffer.from(bytes);
    altered[at] = (altered[at] ?? 0) ^ 1;
    expect(() => unseal(`v1.${altered.toString("base64url")}`)).toThrow(/cannot be read/);
  }
});

test.each(["", "v1.", "v1.AAAA", "v2.AAAA", "plain text"])("%j is no sealed text", (text) => {
  expect(() => unseal(text)).toThrow(/cannot be read/);
});

test("another ENCRYPTION_KEY does not open it", () => {
  const sealed = seal("hello");
  setSettings({ ENCRYPTION_KEY: "another key of at least 32 characters" });
  expect(() => unseal(sealed)).toThrow(/cannot be read/);
});

test("without an ENCRYPTION_KEY nothing is sealed", () => {
  setSettings({ ENCRYPTION_KEY: "" });
  expect(() => seal("hello")).toThrow(/ENCRYPTION_KEY/);
});

test("platform keys and tokens are 43 URL-safe characters, and never twice the same", () => {
  expect(generatePlatformKey()).toMatch(/^sk-service-[A-Za-z0-9_-]{43}$/);
  expect(new Set(Array.from({ length: 100 }, randomToken)).size).toBe(100);
});

test("sha256 is the hex digest", () => {
  expect(sha256("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

test("secrets are compared whole", () => {
  expect(isSameSecret("token", "token")).toBe(true);
  expect(isSameSecret("token", "tokem")).toBe(false);
  expect(isSameSecret("token", "token ")).toBe(false);
});

test("a password hash is argon2id with a salt, and fits only its password", async () => {
  const [first, second] = [await hashPassword("correct horse"), await hashPassword("correct horse")];
  expect(first).toMatch(/^\$argon2id\$/);
  expect(first).not.toBe(second);
  expect(await isPassword(first, "correct horse")).toBe(true);
  expect(await isPassword(first, "correct horsf")).toBe(false);
  expect(await isPassword("not a hash", "correct horse")).toBe(false);
});

test("a mask shows the ends of a long secret and nothing of a short one", () => {
  expect(maskSecret("sk-1234567890abcdef")).toBe("sk-••••cdef");
  expect(maskSecret("short-secret")).toBe("••••");
  expect(maskSecret("")).toBe("••••");
});
