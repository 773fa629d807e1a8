import { expect, test } from "vitest";
import { countOwnPasswordTry, countPasswordTry, forgetPasswordTries } from "#server/platform/auth/limits.ts";
import { testDatabase } from "#server/testing/test-database.ts";

testDatabase();

/** How many of so many tries are let in. */
async function letIn(tries: number, tryIt: (n: number) => Promise<void>): Promise<number> {
  let count = 0;
  for (let n = 0; n < tries; n++)
    await tryIt(n).then(
      () => count++,
      (error) => expect(error).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", message: expect.stringMatching(/^Too many tries\. Wait/) }),
    );
  return count;
}

test("passwords of one account cannot be tried on from many addresses, and its owner still gets in from a known one", async () => {
  await countPasswordTry("Owner@example.com", "198.51.100.1");
  await forgetPasswordTries("owner@example.com", "198.51.100.1");
  expect(await letIn(120, (n) => countPasswordTry("owner@example.com", `203.0.113.${n}`))).toBe(50);
  await countPasswordTry("owner@EXAMPLE.com", "198.51.100.1");
  // Others from there have ten tries, as everywhere, and use up none but their own.
  expect(await letIn(20, () => countPasswordTry("owner@example.com", "198.51.100.1"))).toBe(9);
  await countPasswordTry("somebody.else@example.com", "203.0.113.1");
});

test("an IPv6 network is one address", async () => {
  expect(await letIn(20, (n) => countPasswordTry("six@example.com", `2001:db8:0:7::${n.toString(16)}`))).toBe(10);
  await countPasswordTry("six@example.com", "2001:db8:0:8::1");
});

test("tries of the own password are counted for each person and purpose apart", async () => {
  for (let n = 0; n < 12; n++) await letIn(10, () => countOwnPasswordTry(`user ${n}`, "change")); // more than a hundred together
  expect(await letIn(12, () => countOwnPasswordTry("ada", "change"))).toBe(10);
  expect(await letIn(12, () => countOwnPasswordTry("ada", "delete"))).toBe(10);
  expect(await letIn(12, () => countOwnPasswordTry("grace", "change"))).toBe(10);
});
