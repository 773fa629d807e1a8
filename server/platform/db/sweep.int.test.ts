import { expect, test } from "vitest";
import { pool } from "#server/platform/db/client.ts";
import { finds, sweep } from "#server/platform/db/sweep.ts";
import { testDatabase } from "#server/testing/test-database.ts";

testDatabase();

test("a sweep is made when it may have something to do, and one that fails keeps no other from its turn", async () => {
  const made: string[] = [];
  const making = (name: string, isDue?: string) => ({ ...(isDue && { isDue }), run: async () => made.push(name) });
  const failing = { run: () => Promise.reject(new Error("It broke.")) };
  const [nothing, something] = ["SELECT FROM projects", "SELECT FROM _prisma_migrations"];
  const sweeping = sweep(
    making("nothing", finds(nothing)),
    failing,
    making("something", finds(something)),
    making("either", finds(nothing, something)),
    making("always"),
  );
  await expect(sweeping).rejects.toThrow("It broke.");
  expect(made).toEqual(["something", "either", "always"]);
});

test("what sweeps ask is answered by indexes alone, and nothing else is", async () => {
  const made: string[] = [];
  await sweep({ isDue: "current_setting('enable_seqscan') = 'off'", run: async () => made.push("by indexes") });
  expect(made).toEqual(["by indexes"]);
  const { rows } = await pool().query("SHOW enable_seqscan");
  expect(rows).toEqual([{ enable_seqscan: "on" }]);
});
