import { beforeEach, expect, test } from "vitest";
import { checkEncryptionKey } from "#server/boot/encryption-check.ts";
import { db } from "#server/platform/db/client.ts";
import { newId } from "#server/platform/new-id.ts";
import { seal } from "#server/platform/secrets.ts";
import { setSettings } from "#server/platform/settings.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const { newAdmin } = testDatabase();

const useKey = (letter: string) => setSettings({ ENCRYPTION_KEY: letter.repeat(32) });
const REFUSAL = /^ENCRYPTION_KEY is not the key/;

beforeEach(async () => {
  useKey("a");
  await db().encryptionCheck.deleteMany();
  await db().credential.deleteMany();
});

async function storeCredential(): Promise<void> {
  const { project } = await newAdmin();
  await db().credential.create({ data: { id: newId(), project_id: project.id, name: "TOKEN", sealed_value: seal("hunter2") } });
}

test("accepts the key of the first start again", async () => {
  await checkEncryptionKey();
  await checkEncryptionKey();
});

test("refuses another key than that of the first start", async () => {
  await checkEncryptionKey();
  useKey("b");
  await expect(checkEncryptionKey()).rejects.toThrow(REFUSAL);
});

test("refuses another key on a database from before the check", async () => {
  await storeCredential();
  useKey("b");
  await expect(checkEncryptionKey()).rejects.toThrow(REFUSAL);
  expect(await db().encryptionCheck.count()).toBe(0);
});

test("accepts the key of the stored secrets on a database from before the check", async () => {
  await storeCredential();
  await checkEncryptionKey();
  expect(await db().encryptionCheck.count()).toBe(1);
});

test("accepts a new key once after the old one was given up", async () => {
  await storeCredential();
  await checkEncryptionKey();
  await db().encryptionCheck.updateMany({ data: { sealed: null } });
  useKey("b");
  await checkEncryptionKey();
  useKey("a");
  await expect(checkEncryptionKey()).rejects.toThrow(REFUSAL);
});
