import { describe, expect, it } from "vitest";
import { checkCron, nextFire, nextFires } from "#server/workflow/cron.ts";

const from = new Date("2026-11-21T10:00:00Z");
const check = (cron_expression: string, timezone = "UTC") => checkCron({ cron_expression, timezone }, from);
const fires = (cron_expression: string, timezone: string, after: string, count: number) =>
  nextFires({ cron_expression, timezone }, new Date(after), count).map((time) => time.toISOString());

describe("checkCron", () => {
  it.each([
    "*/5 * * * *",
    "0 9 * * 1-5",
    "0,30 */2 1,15 * MON",
    "58 23 * * *",
    "0 0 29 2 *",
    "0 0 1 jan,JUL *",
    "0,57 0,23 1 * *", // 23:57 and 00:00, but never on days that follow each other
    " 15  4 * * 7 ",
    "*/7 9,10 1 * *",
    "*/59 * * * *", // the last of an hour is a minute before the next hour's first
  ])("takes %j", (pattern) => expect(() => check(pattern)).not.toThrow());

  it("takes every N minutes from 5 to 59, in any zone", () => {
    for (let every = 5; every < 60; every++)
      for (const zone of ["UTC", "Europe/Berlin", "Australia/Lord_Howe"]) expect(() => check(`*/${every} * * * *`, zone)).not.toThrow();
    for (let every = 1; every < 5; every++) expect(() => check(`*/${every} * * * *`)).toThrow("every 5 minutes");
  });

  it.each([
    ["* * * * *", "every 5 minutes"],
    ["*/4 * * * *", "every 5 minutes"],
    ["0-59/7 * * * *", "every 5 minutes"], // 56 and 60
    ["*/7,3 * * * *", "every 5 minutes"],
    ["*/7 * 30 2 *", "never fires"],
    ["0,4 3 * * *", "every 5 minutes"],
    ["* * 29 2 *", "every 5 minutes"],
    ["0,57 0,23 * * *", "around midnight"],
    ["0,57 0,23 1,2 * *", "around midnight"],
    ["0 0 30 2 *", "never fires"],
    ["0 9 * *", "five fields"],
    ["*/30 0 9 * * *", "five fields"],
    ["@daily", "five fields"],
    ["0 0 L * *", "day of month"],
    ["0 0 * * MON#1", "day of week"],
    ["0 0 * * xyz", "day of week"],
    ["60 * * * *", "The minute goes from 0 to 59, and the cron expression says 60."],
    ["0 9 32 * *", "The day of month goes from 1 to 31, and the cron expression says 32."],
    ["0 9 0 * *", "The day of month goes from 1 to 31, and the cron expression says 0."],
    ["0 9 1 1-13 *", "The month goes from 1 to 12, and the cron expression says 13."],
    ["0 9 * * 8", "The day of week goes from 0 to 7, and the cron expression says 8."],
    ["-1 9 * * *", "The minute of the cron expression cannot be read: -1"],
    ["1,,2 9 * * *", "The minute of the cron expression cannot be read: 1,,2"],
    ["*/0 * * * *", "cannot be read"],
    ["", "five fields"],
  ])("refuses %j: %s", (pattern, reason) => expect(() => check(pattern)).toThrow(reason));

  it("refuses an unknown zone, and names the field", () => {
    expect(() => check("0 9 * * *", "Mars/Olympus")).toThrow('no time zone "Mars/Olympus"');
    for (const zone of ["", "+05:00", "-0330"])
      expect(() => check("0 9 * * *", zone)).toThrow(expect.objectContaining({ field: "timezone" }));
  });

  it("finds fires that only the change of clocks brings together", () => {
    expect(() => check("0,58 1,3 * * *", "UTC")).not.toThrow();
    // 01:58, then 03:00 two minutes later.
    expect(() => check("0,58 1,3 * * *", "Europe/Berlin")).toThrow("when clocks change in Europe/Berlin on 2027-03-28");
  });

  it("gives the same answer as a look at every fire of the year", () => {
    for (const timezone of ["Europe/Berlin", "Africa/Cairo"])
      for (const pattern of ["0,57 1,2 * * *", "2,57 0,1,23 * * 0,5", "0,56 0,23 28-31 * *"]) {
        const times: number[] = [];
        for (let at = from; at.getTime() < from.getTime() + 366 * 86_400_000; ) {
          at = nextFire({ cron_expression: pattern, timezone }, at) ?? at;
          times.push(at.getTime());
        }
        const isClose = times.some((time, index) => index > 0 && time - (times[index - 1] ?? 0) < 300_000);
        if (isClose) expect(() => check(pattern, timezone), `${pattern} ${timezone}`).toThrow("more often");
        else expect(() => check(pattern, timezone), `${pattern} ${timezone}`).not.toThrow();
      }
  });
});

describe("fires", () => {
  it("follow the clock of the zone through summer and winter time", () => {
    expect(fires("0 9 * * *", "Europe/Berlin", "2027-03-27T00:00:00Z", 2)).toEqual([
      "2027-03-27T08:00:00.000Z",
      "2027-03-28T07:00:00.000Z",
    ]);
  });

  it("a time that the spring day leaves out fires when the clock has jumped, once", () => {
    expect(fires("30 2 * * *", "Europe/Berlin", "2027-03-27T00:00:00Z", 3)).toEqual([
      "2027-03-27T01:30:00.000Z",
      "2027-03-28T01:00:00.000Z",
      "2027-03-29T00:30:00.000Z",
    ]);
  });

  it("a time that the autumn day has twice fires at the first, once", () => {
    expect(fires("30 2 * * *", "Europe/Berlin", "2027-10-30T12:00:00Z", 2)).toEqual([
      "2027-10-31T00:30:00.000Z",
      "2027-11-01T01:30:00.000Z",
    ]);
  });

  it.each([
    ["15,45 2 * * *", "01:00"],
    ["*/20 2 * * *", "01:00"],
    ["10-50/20 2 * * *", "01:00"],
    ["0,30 2,3 * * *", "01:00 01:30"], // 03:00 is its own fire as well
    ["0 1-4 * * *", "00:00 01:00 02:00 23:00"],
    ["0 0-4/2 * * *", "01:00 02:00 22:00"],
    ["0 */2 * * *", "01:00 02:00 04:00 06:00 08:00 10:00 12:00 14:00 16:00 18:00 20:00 22:00"],
    ["3 2,3 * * *", "01:03"], // 03:00 would come three minutes before it
    ["57 1,2 * * *", "00:57 23:57"], // and here three minutes after it
  ])("%j on the day when clocks go forward: what is left out fires once, unless another fire is close", (pattern, times) => {
    expect(() => check(pattern, "Europe/Berlin")).not.toThrow();
    const day = fires(pattern, "Europe/Berlin", "2027-03-27T23:30:00Z", 12).filter((time) => time.startsWith("2027-03-28"));
    expect(day.map((time) => time.slice(11, 16)).join(" ")).toBe(times);
  });

  it.each([
    ["15,45 2 * * *", "00:15 00:45"],
    ["*/20 2 * * *", "00:00 00:20 00:40"],
    ["0 1-4 * * *", "00:00 02:00 03:00"],
    ["0 */2 * * *", "00:00 03:00 05:00 07:00 09:00 11:00 13:00 15:00 17:00 19:00 21:00 23:00"],
    ["0 2,3 * * *", "00:00 02:00"],
  ])("%j on the day when clocks go back: what comes twice fires at the first", (pattern, times) => {
    const day = fires(pattern, "Europe/Berlin", "2027-10-30T23:30:00Z", 12).filter((time) => time.startsWith("2027-10-31"));
    expect(day.map((time) => time.slice(11, 16)).join(" ")).toBe(times);
  });

  it.each(["0 * * * *", "0 0-23 * * *", "0,30 */1 * * *"])("%j goes on in real time through both", (pattern) => {
    for (const after of ["2027-03-27T22:59:00Z", "2027-10-30T22:59:00Z"]) {
      const times = fires(pattern, "Europe/Berlin", after, 8).map(Date.parse);
      expect(new Set(times.slice(1).map((time, index) => time - (times[index] ?? 0))).size).toBe(1);
    }
  });

  it("what runs each half hour goes on in real time through both", () => {
    const halves = fires("*/30 * * * *", "Europe/Berlin", "2027-10-30T23:00:00Z", 8).map(Date.parse);
    const spring = fires("*/30 * * * *", "Europe/Berlin", "2027-03-28T00:00:00Z", 8).map(Date.parse);
    for (const times of [halves, spring])
      expect(times.slice(1).map((time, index) => time - (times[index] ?? 0))).toEqual(Array(7).fill(1_800_000));
  });

  it("either day field counts when both are given, as in every cron", () => {
    expect(fires("0 0 13 * 5", "UTC", "2026-11-01T00:00:00Z", 3)).toEqual([
      "2026-11-06T00:00:00.000Z",
      "2026-11-13T00:00:00.000Z",
      "2026-11-20T00:00:00.000Z",
    ]);
  });

  it("a fire is after the moment, never at it", () => {
    expect(nextFire({ cron_expression: "0 9 * * *", timezone: "UTC" }, new Date("2026-11-21T09:00:00Z"))?.toISOString()).toBe(
      "2026-11-22T09:00:00.000Z",
    );
  });
});
