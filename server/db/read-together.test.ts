import { expect, test, vi } from "vitest";
import { together } from "#server/db/read-together.ts";

/** Reads that end when told to, in the order in which they began. */
function reads() {
  const begun: PromiseWithResolvers<string>[] = [];
  const read = () => {
    const one = Promise.withResolvers<string>();
    begun.push(one);
    return one.promise;
  };
  return { begun, read };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("those who ask while a read is under way share the next one, which begins after they asked", async () => {
  const { begun, read } = reads();
  const first = together("key", read);
  const second = together("key", read);
  const third = together("key", read);
  await settled();
  expect(begun).toHaveLength(1);
  begun[0]?.resolve("as it was");
  expect(await first).toBe("as it was");
  await settled();
  expect(begun).toHaveLength(2);
  const fourth = together("key", read);
  begun[1]?.resolve("as it is");
  expect(await Promise.all([second, third])).toEqual(["as it is", "as it is"]);
  await settled();
  // It asked when the second had begun, which may have looked before.
  begun[2]?.resolve("later");
  expect(await fourth).toBe("later");
  expect(begun).toHaveLength(3);
});

test("one after the other, each reads for itself; other keys wait for nobody", async () => {
  const { begun, read } = reads();
  const one = together("one", read);
  const other = together("other", read);
  expect(begun).toHaveLength(2);
  for (const { resolve } of begun) resolve("done");
  await Promise.all([one, other]);
  await settled();
  void together("one", read);
  expect(begun).toHaveLength(3);
});

test("a failure reaches those who share the read and nobody else", async () => {
  const { begun, read } = reads();
  const first = together("failing", read);
  const second = together("failing", read);
  begun[0]?.reject(new Error("away"));
  await expect(first).rejects.toThrow("away");
  await settled();
  begun[1]?.resolve("back");
  expect(await second).toBe("back");
});

test("a read that hangs holds up nobody for long", async () => {
  vi.useFakeTimers();
  try {
    const { begun, read } = reads();
    void together("hanging", read);
    const second = together("hanging", read);
    await vi.advanceTimersByTimeAsync(1000);
    begun[1]?.resolve("answered");
    expect(await second).toBe("answered");
  } finally {
    vi.useRealTimers();
  }
});
