import { describe, expect, it } from "vitest";
import { goldens, play } from "#server/testing/golden-play.ts";

// Each golden run once more, with the process dying before or after each of its writes in turn: the run must end the
// same, and no call whose end was written may be made again. Runs whose calls are told in which order to end are left out: that order is lost.
const playable = goldens.filter(({ ends, answers }) => !ends && !Object.values(answers ?? {}).some(Array.isArray));

describe.each([
  ["before", false],
  ["after", true],
] as const)("a process that dies %s any write", (_, isMade) => {
  it.each(playable.map((golden) => [golden.about, golden] as const))("%s", async (_about, golden) => {
    const whole = await play(golden);
    const writes = whole.memory.commits.length;
    const made = (calls: Record<string, number>) => Object.values(calls).reduce((sum, count) => sum + count, 0);
    const underWay = (id: string) => maxUnderWay(whole.memory.rows().filter(({ node_id }) => node_id === id));
    for (let write = 1; write <= writes; write++) {
      const broken = await play(golden, { write, isMade });
      expect(broken.memory.ending()).toEqual(whole.memory.ending());
      const completed = broken.memory.rows().filter((row) => row.status === "complete" && row.handle !== "item");
      const names = completed.map(({ node_id, iteration }) => `${node_id}:${iteration}`);
      expect(new Set(names).size).toBe(names.length);
      expect(made(broken.calls) - made(whole.calls)).toBeLessThanOrEqual(maxUnderWay(whole.memory.rows()));
      for (const [id, count] of Object.entries(broken.calls)) expect(count - (whole.calls[id] ?? 0), id).toBeLessThanOrEqual(underWay(id));
      expect(broken.memory.waiting()).toEqual([]);
    }
  });
});

/** The most calls that are under way at one time. */
function maxUnderWay(rows: readonly { status: string }[]): number {
  let now = 0;
  let most = 0;
  for (const { status } of rows) {
    if (status === "running") now++;
    else if (status === "complete" || status === "failed") now--;
    now = Math.max(0, now);
    most = Math.max(most, now);
  }
  return Math.max(1, most);
}
