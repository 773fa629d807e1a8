import { expect, test } from "vitest";
import { KeyedSemaphore } from "#server/platform/keyed-semaphore.ts";

test("two of a key work at once, the next wait in line, and one too many is told; another key does not wait", async () => {
  const semaphore = new KeyedSemaphore(2, 1, "Too many.");
  const order: string[] = [];
  const begun = (name: string, key = "a") => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = semaphore.run(key, () => {
      order.push(name);
      return promise;
    });
    return { end, done: resolve };
  };
  const [one, two, three] = [begun("one"), begun("two"), begun("three")];
  await expect(begun("four").end).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED", message: "Too many.", retryAfter: 2 });
  const other = begun("other", "b");
  expect(order).toEqual(["one", "two", "other"]);
  one.done();
  await one.end;
  expect(order.at(-1)).toBe("three");
  for (const { end, done } of [two, three, other]) {
    done();
    await end;
  }
  // One that fails gives its turn back as well.
  await expect(semaphore.run("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await semaphore.run("a", async () => "yes")).toBe("yes");
});
