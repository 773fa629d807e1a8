import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ownSecrets } from "#server/boot/own-secrets.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "treadle-secrets-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("makes secrets in an empty folder that later starts read", () => {
  const secrets = ownSecrets(folder);
  expect(ownSecrets(folder)).toEqual(secrets);
});

test("makes secrets after a first start that was interrupted before its database", () => {
  mkdirSync(join(folder, "postgres"));
  expect(ownSecrets(folder)).toHaveProperty("encryption_key");
});

test("writes nothing when secrets.json is missing beside a database", () => {
  mkdirSync(join(folder, "postgres"));
  writeFileSync(join(folder, "postgres/PG_VERSION"), "18\n");
  expect(() => ownSecrets(folder)).toThrow(/^secrets\.json is missing in .*: restore it from a backup/);
  expect(readdirSync(folder)).toEqual(["postgres"]);
});

test("does not replace a damaged secrets.json", () => {
  writeFileSync(join(folder, "secrets.json"), "{");
  expect(() => ownSecrets(folder)).toThrow(/cannot be read\. Restore the file/);
});
