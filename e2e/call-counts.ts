import { expect } from "@playwright/test";
import type { ApiClient } from "#e2e/api-client.ts";
import type { ModelCall } from "#e2e/fakes/model-server.ts";
import type { SavedWorkflow } from "#e2e/standard-workflows.ts";
import { MAX_CRASHES } from "#server/runs/ports.ts";
import { Execution, ExecutionLogs, ExecutionPage, type ExecutionSummary } from "#server/runs/schema.ts";

/** The calls by the whole of their last user message, which in the standard set is one for each node, iteration and run. */
export const byMessage = (calls: readonly ModelCall[]): Map<string, ModelCall[]> => Map.groupBy(calls, ({ message }) => message);

/** What was seen beyond a run without interruption. */
export interface Tally {
  /** Attempts that were closed because their process died. */
  interrupted: number;
  /** Calls that were answered, and made again because the answer was not written down yet. */
  answeredTwice: number;
  /** Runs that failed because a call over HTTP was interrupted twice, or because their process died `MAX_CRASHES` times in a row. */
  givenUp: number;
}

/** Every execution of the project. */
export async function everyExecution(api: ApiClient): Promise<ExecutionSummary[]> {
  const all: ExecutionSummary[] = [];
  for (let page = 1; ; page++) {
    const { body } = await api.get(`/executions?per_page=200&page=${page}`, { schema: ExecutionPage });
    all.push(...body.items);
    if (all.length >= body.total) return all;
  }
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

interface Seen {
  calls: Map<string, ModelCall[]>;
  /** Of processes and of the database. */
  stops: readonly Stop[];
  /** Every execution of the project. */
  all: readonly ExecutionSummary[];
}

/**
 * Proves of a run that has ended: it came to what it should, a call that was written down as complete was made once, and a
 * call was made again only after its process or the database had been stopped, with an attempt number that says so. A call over
 * HTTP bears the same key each time. What it started was started once, and the same holds of that.
 */
export async function expectExactCalls(api: ApiClient, { workflow, execution_id, mark, ...seen }: ExpectedRun & Seen): Promise<Tally> {
  const { calls, stops, all } = seen;
  const { body: run } = await api.get(`/executions/${execution_id}`, { schema: Execution });
  const what = `${workflow.name} ${mark} (${execution_id})`;
  const tally: Tally = { interrupted: 0, answeredTwice: 0, givenUp: 0 };

  const { body: logs } = await api.get(`/executions/${execution_id}/logs`, { schema: ExecutionLogs });
  const expected = workflow.calls(mark);
  const isGivenUpForDeaths = run.error?.includes(`stopped ${MAX_CRASHES} times in a row`) === true;
  if (isGivenUpForDeaths) {
    const [created, ended] = [Date.parse(run.created_at), Date.parse(run.completed_at ?? "")];
    expect(
      stops.filter(({ asked, gone }) => gone >= created && asked <= ended).length,
      `${what}: ${run.error}, stops ${JSON.stringify(stops)}`,
    ).toBeGreaterThanOrEqual(MAX_CRASHES);
    tally.givenUp++;
  }
  for (const { node_id, iteration, message } of expected) {
    const attempts = logs.items
      .filter((item) => item.node_id === node_id && item.iteration === iteration)
      .sort((one, other) => one.attempt - other.attempt);
    const made = calls.get(message) ?? [];
    const answered = made.filter(({ outcome }) => outcome === "answered").length;
    const told = `${what}, ${node_id} ${iteration ?? ""}: ${JSON.stringify(attempts)}, calls ${made.map(({ outcome }) => outcome)}`;
    const isHttp = attempts[0]?.node_type === "httpNode";
    const isGivenUp = isHttp && attempts.length === 2 && attempts[1]?.status === "failed";
    if (isGivenUpForDeaths && attempts.at(-1)?.status !== "complete") {
      expect(made.length, told).toBeLessThanOrEqual(attempts.length);
      continue;
    }
    if (run.status === "failed" && (attempts.at(-1)?.status ?? "skipped") === "skipped") continue;
    expect(
      attempts.map(({ attempt }) => attempt),
      told,
    ).toEqual(attempts.map((_, index) => index + 1));
    expect(
      attempts.map(({ status }) => status),
      told,
    ).toEqual([...attempts.slice(1).map(() => "failed"), isGivenUp ? "failed" : "complete"]);
    for (const [index, attempt] of attempts.entries()) {
      const next = attempts[index + 1];
      if (!next && !isGivenUp) continue;
      expect(attempt.error, told).toContain("Interrupted");
      const [from, to] = [attempt.started_at, next?.started_at ?? attempt.completed_at].map((time) => Date.parse(time ?? ""));
      expect(
        stops.some(({ asked, gone }) => gone >= (from ?? 0) && asked <= (to ?? 0)),
        `${told}, stops ${JSON.stringify(stops)}`,
      ).toBe(true);
    }
    if (isHttp) {
      expect(attempts.length, told).toBeLessThanOrEqual(2);
      const key = `${execution_id}:${node_id}:${iteration ?? ""}`;
      expect(
        made.map((call) => call.key).filter((used) => used !== key),
        told,
      ).toEqual([]);
    }
    if (!isGivenUp) expect(answered, told).toBeGreaterThanOrEqual(1);
    expect(made.length, told).toBeLessThanOrEqual(attempts.length);
    tally.interrupted += isGivenUp ? attempts.length : attempts.length - 1;
    tally.answeredTwice += Math.max(0, answered - 1);
    tally.givenUp += Number(isGivenUp);
  }
  // Of calls that nobody counts, such as those of the service itself, it is known from the log alone.
  const counted = new Set(expected.map(({ node_id }) => node_id));
  const uncounted = logs.items.filter(({ node_id, node_type }) => node_type === "httpNode" && !counted.has(node_id));
  for (const attempts of Map.groupBy(uncounted, ({ node_id, iteration }) => `${node_id} ${iteration}`).values()) {
    const interrupted = attempts.filter(({ error }) => error?.includes("Interrupted")).length;
    tally.interrupted += interrupted;
    tally.givenUp += Number(interrupted === 2);
  }
  const called = logs.items.filter(
    ({ node_type, status, input }) =>
      status !== "skipped" && (node_type === "agentNode" || (node_type === "httpNode" && input?.includes("/chat/completions"))),
  );
  const inLogs = new Set(called.map((item) => `${item.node_id} ${item.iteration}`));

  const { children } = workflow;
  const started = all.filter(({ parent }) => parent?.execution_id === execution_id);
  for (const { id, input } of started) {
    if (!children || tally.givenUp) break;
    const child = await expectExactCalls(api, { ...seen, workflow: children.workflow, execution_id: id, mark: input });
    tally.interrupted += child.interrupted;
    tally.answeredTwice += child.answeredTwice;
    tally.givenUp += child.givenUp;
  }
  if (tally.givenUp) {
    expect(run, what).toMatchObject({ status: "failed", error: expect.stringMatching(/It is not started again[.:]/) });
    return tally;
  }
  expect(run, what).toMatchObject({ status: "completed", error: null, output: workflow.output(mark) });
  if (workflow.hasReview) expect(run.reviews, what).toHaveLength(1);
  expect(inLogs.size, what).toBe(expected.length);
  expect(started.map(({ input }) => input).sort(), what).toEqual(children?.input(mark).sort() ?? []);
  return tally;
}

export interface ExpectedRun {
  workflow: SavedWorkflow;
  execution_id: string;
  mark: string;
}
