import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { graphOf } from "#e2e/api/graphs.ts";
import type { ApiClient } from "#e2e/api-client.ts";
import type { ModelCall } from "#e2e/fakes/model-server.ts";
import type { SavedWorkflow } from "#e2e/standard-workflows.ts";
import { until } from "#e2e/until.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { ExecuteResult, Execution, RerunResult } from "#server/runs/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";

// What the standard set leaves out and an executor has to get right: ends that come from outside, several waits of one run,
// and a run that begins in the middle.

/** How long a run may take; a real server lets a wait of its own pass between steps. */
const PATIENCE_MS = 120_000;
/** Between two looks at a run: seldom enough for the limits of a new installation, 30 requests in 5 seconds and 200 in a minute. */
const LOOK_MS = 400;
/** What the contract allows between a request to cancel and the end of its calls, in milliseconds. */
const CANCEL_MS = 5000;
const TIMEOUT_SECONDS = 3;

export interface SmokeCase {
  name: string;
  /** @throws Error that says what went wrong */
  play(): Promise<void>;
}

/** Looks at an execution until it is as it should be, or has ended. */
export function follow(api: ApiClient, execution_id: string, isThere: (run: Execution) => boolean = () => false): Promise<Execution> {
  return until(async () => {
    await pause(LOOK_MS);
    const { body } = await api.get(`/executions/${execution_id}`, { schema: Execution });
    return isFinal(body.status) || isThere(body) ? body : undefined;
  }, PATIENCE_MS);
}

/** @throws Error when the execution did not end so */
export function assertEnd(run: Execution, expected: { status?: string; output: string | null }): void {
  if (run.status !== (expected.status ?? "completed")) throw new Error(`it ended as ${run.status}: ${run.error ?? ""}`);
  if (run.output !== expected.output) throw new Error(`its output is ${run.output}, and should be ${expected.output}`);
}

function assertSame(what: string, found: unknown, expected: unknown): void {
  const [is, should] = [JSON.stringify(found), JSON.stringify(expected)];
  if (is !== should) throw new Error(`${what}: ${is}, and should be ${should}`);
}

/**
 * @param models address of the model stand-in, ending in /v1
 * @param chain of the standard set: three agents in a row, `first`, `second`, which answers at once with what it was told, and `third`
 */
export function smokeCases(
  api: ApiClient,
  { models, chain, suffix }: { models: string; chain: SavedWorkflow; suffix: string },
): SmokeCase[] {
  const agent_id = chain.graph.nodes.find(({ id }) => id === "second")?.data.agent_id;
  const callsTo = async (words: string): Promise<ModelCall[]> => {
    const answer = await fetch(`${models.replace(/\/v1$/, "")}/_calls?contains=${encodeURIComponent(words)}`);
    return ((await answer.json()) as { calls: ModelCall[] }).calls;
  };
  const execute = async (workflow: { id: string }, input: string) =>
    (await api.post(`/workflows/${workflow.id}/execute`, { input }, { schema: ExecuteResult, status: 202 })).body.execution_id;
  /** A case about a workflow of its own, which is removed again. */
  const about = (name: string, graph: ReturnType<typeof graphOf>, play: (id: string, mark: string) => Promise<void>): SmokeCase => ({
    name,
    async play() {
      const mark = `smoke-${randomUUID()}`;
      const { body: workflow } = await api.post("/workflows", { name: name + suffix, ...graph }, { schema: Workflow, status: 201 });
      try {
        await play(await execute(workflow, mark), mark);
      } finally {
        await api.del(`/workflows/${workflow.id}`);
      }
    },
  });

  const checks = ["A", "B", "C"];
  return [
    about(
      "review timeout",
      graphOf(
        {
          t: ["trigger"],
          Check: ["humanLoop", { timeout_hours: TIMEOUT_SECONDS / 3600 }],
          o: ["output", { value: "late: {{Check.output}}" }],
        },
        ["t>Check", "Check.rejected>o"],
      ),
      async (id) => {
        const run = await follow(api, id);
        assertEnd(run, { output: "late: rejected" });
        assertSame(
          "its review was decided",
          run.reviews.map(({ via }) => via),
          ["timeout"],
        );
      },
    ),
    about(
      "three reviews",
      graphOf(
        {
          t: ["trigger"],
          ...Object.fromEntries(checks.map((id): [string, [string]] => [id, ["humanLoop"]])),
          o: ["output", { value: "{{A.comment}} {{B.comment}} {{C.comment}}" }],
        },
        checks.flatMap((id) => [`t>${id}`, `${id}.approved>o`]),
      ),
      async (id) => {
        const isOpen = ({ node_results }: Execution) => checks.every((check) => node_results[check]?.status === "waiting");
        assertSame("while all three wait, it is", (await follow(api, id, isOpen)).status, "paused");
        for (const node_id of checks.toReversed())
          await api.post(`/executions/${id}/approve`, { decision: "approved", comment: `by ${node_id}`, node_id }, { status: 200 });
        assertEnd(await follow(api, id), { output: "by A by B by C" });
      },
    ),
    about(
      "cancel",
      graphOf({ t: ["trigger"], a: ["agent", { agent_id, input: "[[hang]] {{trigger.output}}" }], o: ["output"] }, ["t>a", "a>o"]),
      async (id, mark) => {
        await until(async () => (await callsTo(mark)).length === 1, PATIENCE_MS);
        await api.post(`/executions/${id}/cancel`, {}, { schema: Execution, status: 200 });
        await until(async () => (await callsTo(mark)).every(({ outcome }) => outcome === "aborted"), CANCEL_MS);
        assertEnd(await follow(api, id), { status: "cancelled", output: null });
        assertSame("its calls", (await callsTo(mark)).length, 1);
      },
    ),
    {
      name: "rerun from a node",
      async play() {
        const mark = `smoke-${randomUUID()}`;
        const first = await execute(chain, chain.input(mark));
        assertEnd(await follow(api, first), { output: chain.output(mark) });
        const { body } = await api.post(`/executions/${first}/rerun`, { from_node_id: "third" }, { schema: RerunResult, status: 202 });
        const again = await follow(api, body.execution_id);
        assertEnd(again, { output: chain.output(mark) });
        assertSame("it runs again", again.rerun_of, first);
        const counts = await Promise.all(["first", "second", "third"].map(async (id) => (await callsTo(`${id} ${mark}`)).length));
        assertSame("calls of first, second and third", counts, [1, 1, 2]);
      },
    },
  ];
}
