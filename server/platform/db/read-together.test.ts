import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { together } from "#server/platform/db/read-together.ts";

// No pause of the machine's may begin a read before its time.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

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

test("a failure reaches those who share the read; where only the connection broke, they read for themselves", async () => {
  const { begun, read } = reads();
  const first = together("failing", read);
  const sharing = [together("failing", read), together("failing", read)];
  begun[0]?.reject(new Error("refused"));
  await expect(first).rejects.toThrow("refused");
  await settled();
  begun[1]?.reject(new Error("refused again"));
  for (const { status } of await Promise.allSettled(sharing)) expect(status).toBe("rejected");
  expect(begun).toHaveLength(2);

  const broken = together("failing", read);
  const others = [together("failing", read), together("failing", read)];
  begun[2]?.resolve("there");
  await broken;
  await settled();
  begun[3]?.reject(new Error("Connection terminated unexpectedly"));
  await settled();
  for (const { resolve } of begun.slice(4)) resolve("there");
  expect(await Promise.all(others)).toEqual(["there", "there"]);
  expect(begun).toHaveLength(6);
});

test("a read that hangs holds up nobody for long, whether it is waited for or shared", async () => {
  const { begun, read } = reads();
  void together("hanging", read);
  const sharing = [together("hanging", read), together("hanging", read)];
  await vi.advanceTimersByTimeAsync(1000);
  expect(begun).toHaveLength(4);
  for (const { resolve } of begun.slice(2)) resolve("answered");
  expect(await Promise.all(sharing)).toEqual(["answered", "answered"]);
});
