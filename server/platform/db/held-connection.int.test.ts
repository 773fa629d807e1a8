import { expect, test } from "vitest";
import { db, inTransaction, pool, withClient } from "#server/platform/db/client.ts";
import { asOtherCaller, takeRefusals } from "#server/platform/db/held-connection.ts";
import { testDatabase } from "#server/testing/test-database.ts";

testDatabase();

const count = () => db().project.count();
const select = async () => (await pool().query("SELECT 1 AS one")).rows;

test.each([
  ["Prisma", () => db().$transaction(count)],
  ["Prisma, by SQL", () => db().$transaction(select)],
  ["pg", () => inTransaction(select)],
  ["pg, by Prisma", () => inTransaction(count)],
  ["one connection", () => withClient(count)],
  ["another transaction", () => inTransaction(() => inTransaction(async () => 1))],
])("a second connection inside a transaction is refused: %s", async (_, work) => {
  await expect(work()).rejects.toThrow("inside an open transaction");

  expect(takeRefusals()).toHaveLength(1);
});

test("work that a transaction started may query once it has ended", async () => {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });

  const { later } = await inTransaction(async () => ({ later: ended.then(count) }));
  end();

  await expect(later).resolves.toBe(0);
});

test("another caller may query while a transaction is open", async () => {
  await expect(db().$transaction(() => asOtherCaller(count))).resolves.toBe(0);
});
