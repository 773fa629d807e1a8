import { expect, test, vi } from "vitest";
import { finds, sweep } from "#server/platform/db/sweep.ts";
import { log } from "#server/platform/log.ts";
import { testDatabase } from "#server/testing/test-database.ts";

testDatabase();

test("a sweep is made when it may have something to do, and one that fails keeps no other from its turn", async () => {
  const warn = vi.spyOn(log, "warn").mockReturnValue(undefined);
  const made: string[] = [];
  const making = (name: string, isDue?: string) => ({ ...(isDue && { isDue }), run: async () => made.push(name) });
  const failing = { run: () => Promise.reject(new Error("It broke.")) };
  const [nothing, something] = ["SELECT FROM projects", "SELECT FROM _prisma_migrations"];
  await sweep(
    making("nothing", finds(nothing)),
    failing,
    making("something", finds(something)),
    making("either", finds(nothing, something)),
    making("always"),
  );
  expect(made).toEqual(["something", "either", "always"]);
  expect(warn).toHaveBeenCalledOnce();
});
