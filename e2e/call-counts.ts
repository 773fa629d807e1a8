import { expect } from "@playwright/test";
import type { ApiClient } from "#e2e/api-client.ts";
import type { ModelCall } from "#e2e/fakes/model-server.ts";
import type { SavedWorkflow } from "#e2e/standard-workflows.ts";
import { Execution, ExecutionLogs } from "#server/runs/schema.ts";

/** The calls by the whole of their last user message, which in the standard set is one for each node, iteration and run. */
export const byMessage = (calls: readonly ModelCall[]): Map<string, ModelCall[]> => Map.groupBy(calls, ({ message }) => message);

/** What was seen beyond a run without interruption. */
export interface Tally {
  /** Attempts that were closed because their process died. */
  interrupted: number;
  /** Calls that were answered, and made again because the answer was not written down yet. */
  answeredTwice: number;
}

/** When something was stopped, in ms since 1970. What began in between may have been cut as well as what ran before. */
export interface Stop {
  asked: number;
  gone: number;
}

/** Stops something, such as a process that is killed, and notes when. */
export async function stopped(stop: () => Promise<void>): Promise<Stop> {
  const asked = Date.now();
  await stop();
  return { asked, gone: Date.now() };
}

/**
 * Proves of a run that has ended: it came to what it should, a call that was written down as complete was made once, and a
 * call was made again only after its process or the database had been stopped, with an attempt number that says so.
 * @param stops of processes and of the database
 */
export async function expectExactCalls(
  api: ApiClient,
  { workflow, execution_id, mark, calls, stops }: ExpectedRun & { calls: Map<string, ModelCall[]>; stops: readonly Stop[] },
): Promise<Tally> {
  const { body: run } = await api.get(`/executions/${execution_id}`, { schema: Execution });
  const what = `${workflow.name} ${mark} (${execution_id})`;
  expect(run, what).toMatchObject({ status: "completed", error: null, output: workflow.output(mark) });
  if (workflow.hasReview) expect(run.reviews, what).toHaveLength(1);

  const { body: logs } = await api.get(`/executions/${execution_id}/logs`, { schema: ExecutionLogs });
  const tally = { interrupted: 0, answeredTwice: 0 };
  const expected = workflow.calls(mark);
  for (const { node_id, iteration, message } of expected) {
    const attempts = logs.items
      .filter((item) => item.node_id === node_id && item.iteration === iteration)
      .sort((one, other) => one.attempt - other.attempt);
    const made = calls.get(message) ?? [];
    const answered = made.filter(({ outcome }) => outcome === "answered").length;
    const told = `${what}, ${node_id} ${iteration ?? ""}: ${JSON.stringify(attempts)}, calls ${made.map(({ outcome }) => outcome)}`;
    expect(
      attempts.map(({ attempt }) => attempt),
      told,
    ).toEqual(attempts.map((_, index) => index + 1));
    expect(
      attempts.map(({ status }) => status),
      told,
    ).toEqual([...attempts.slice(1).map(() => "failed"), "complete"]);
    for (const [index, attempt] of attempts.entries()) {
      const next = attempts[index + 1];
      if (!next) continue;
      expect(attempt.error, told).toContain("Interrupted");
      const [from, to] = [attempt.started_at, next.started_at].map((time) => Date.parse(time ?? ""));
      expect(
        stops.some(({ asked, gone }) => gone >= (from ?? 0) && asked <= (to ?? 0)),
        `${told}, stops ${JSON.stringify(stops)}`,
      ).toBe(true);
    }
    expect(answered, told).toBeGreaterThanOrEqual(1);
    expect(made.length, told).toBeLessThanOrEqual(attempts.length);
    tally.interrupted += attempts.length - 1;
    tally.answeredTwice += answered - 1;
  }
  const called = logs.items.filter(({ node_type, status }) => node_type === "agentNode" && status !== "skipped");
  const inLogs = new Set(called.map((item) => `${item.node_id} ${item.iteration}`));
  expect(inLogs.size, what).toBe(expected.length);
  return tally;
}

export interface ExpectedRun {
  workflow: SavedWorkflow;
  execution_id: string;
  mark: string;
}
