import { expect, test, vi } from "vitest";
import { outageOf, storageProblem } from "#server/platform/errors.ts";

const withCode = (message: string, code: string) => Object.assign(new Error(message), { code });

test.each([
  ["a refused connection", withCode("connect ECONNREFUSED 127.0.0.1:5432", "ECONNREFUSED")],
  ["a missing socket", withCode("connect ENOENT /data/postgres/.s.PGSQL.5432", "ENOENT")],
  ["a database that starts", withCode("the database system is starting up", "57P03")],
  ["no free connection", withCode("sorry, too many clients already", "53300")],
  ["a connection that was cut", new Error("Connection terminated unexpectedly")],
])("%s is an outage of the database", (_, error) => {
  expect(outageOf(new Error("outer", { cause: error }))).toMatchObject({ code: "SERVICE_UNAVAILABLE", retryAfter: 5 });
});

test("a missing file is no outage", () => {
  expect(outageOf(withCode("ENOENT: no such file or directory, open 'x'", "ENOENT"))).toBeUndefined();
});

test("reports a full disk for a minute, also after the database has ended", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  expect(outageOf(withCode("could not extend file", "53100"))).toMatchObject({ code: "STORAGE_FULL" });
  expect(outageOf(new Error("Connection terminated unexpectedly"))).toMatchObject({ code: "STORAGE_FULL" });
  expect(storageProblem()).toMatch(/^The disk is full/);

  vi.advanceTimersByTime(60_000);

  expect(storageProblem()).toBeUndefined();
  expect(outageOf(new Error("Connection terminated unexpectedly"))).toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  vi.useRealTimers();
});
