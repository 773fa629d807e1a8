import { expect } from "@playwright/test";
import { graphOf } from "#e2e/api/graphs.ts";
import type { ApiClient } from "#e2e/api-client.ts";
import { everyExecution } from "#e2e/call-counts.ts";
import type { ModelServer } from "#e2e/fakes/model-server.ts";
import { until } from "#e2e/until.ts";
import { NotificationPage } from "#server/features/notifications/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { ExecuteResult, Execution } from "#server/runs/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";

const GATES = ["once", "twice", "inner", "loop"];

/**
 * Runs in the middle of calls over HTTP, waits, loops and other runs. Nothing of them may be on its way to an end by itself but a wait
 * of two seconds, so their process is to be killed now.
 * @param api of an install that may reach this machine
 * @returns what is to be proved after each of three deaths of its process
 */
export async function startNodes(api: ApiClient, models: ModelServer) {
  const ask = (gate: string, message: string): [string, Record<string, unknown>] => [
    "http",
    {
      method: "POST",
      url: `${models.url}/chat/completions`,
      headers: [{ name: "Authorization", value: "Bearer stand-in-key" }],
      timeout: 300,
      body_type: "json",
      body: `{"model": "gate-${gate}", "messages": [{"role": "user", "content": "${message}"}]}`,
    },
  ];
  const save = async (name: string, graph: ReturnType<typeof graphOf>, more: object = {}) =>
    (await api.post("/workflows", { name, ...graph, ...more }, { schema: Workflow, status: 201 })).body.id;
  const start = async (workflow_id: string) =>
    (await api.post(`/workflows/${workflow_id}/execute`, { input: "go" }, { schema: ExecuteResult, status: 202 })).body.execution_id;
  const read = async (id: string) => (await api.get(`/executions/${id}`, { schema: Execution })).body;
  const ended = (id: string) =>
    until(async () => {
      const run = await read(id);
      return isFinal(run.status) ? run : undefined;
    }, 60_000);

  const calling = (gate: string) =>
    graphOf({ t: ["trigger"], h: ask(gate, `${gate} of {{execution.id}}`), o: ["output", { value: "{{h.status}}" }] }, ["t>h", "h>o"]);
  const told = await save("Told", graphOf({ t: ["trigger"], o: ["output"] }, ["t>o"]));
  const inner = await save("Inner", calling("inner"));
  const [once, twice] = [await save("Once", calling("once")), await save("Twice", calling("twice"), { error_workflow_id: told })];
  const outer = await save(
    "Outer",
    graphOf({ t: ["trigger"], w: ["workflow", { workflow_id: inner }], o: ["output", { value: "inner {{w.output}}" }] }, ["t>w", "w>o"]),
  );
  const each = ["loop", { items_expression: '["a", "b", "c"]', concurrency: 3 }] as const;
  const loop = await save(
    "Loop",
    graphOf(
      {
        t: ["trigger"],
        Each: [...each],
        h: ask("loop", "item {{Each.current_item}}"),
        c: ["code", { inputs: [{ name: "s", value: "{{h.status}}" }], code: "int(s) + 1", timeout: 10 }],
        o: ["output", { value: "{{Each.output}}" }],
      },
      ["t>Each", "Each.body>h", "h>c", "Each.done>o"],
    ),
  );
  const waits = graphOf({ t: ["trigger"], w: ["wait", { mode: "callback" }], o: ["output", { value: "{{w.output.n}}" }] }, [
    "t>w",
    "w.done>o",
  ]);
  const called = await save("Called", waits);
  const timed = await save(
    "Timed",
    graphOf({ t: ["trigger"], w: ["wait", { mode: "for", seconds: 2 }], o: ["output"] }, ["t>w", "w.done>o"]),
  );

  const runs = {
    once: await start(once),
    twice: await start(twice),
    outer: await start(outer),
    loop: await start(loop),
    called: await start(called),
    timed: await start(timed),
  };
  const waiting = (contains: string) => models.calls({ contains }).filter(({ outcome }) => outcome === "waiting").length;
  const areUnderWay = () => waiting("once of") === 1 && waiting("twice of") === 1 && waiting("inner of") === 1 && waiting("item") === 3;
  await until(areUnderWay, 60_000);
  const address = await until(async () => (await read(runs.called)).node_results.w?.resume_url);
  await until(async () => (await read(runs.timed)).node_results.w?.status === "waiting");

  return {
    async expectGoesOn() {
      await until(areUnderWay, 60_000);
      for (const gate of ["once", "inner", "loop"]) models.release(gate);
      const ends = { once: "200", outer: "inner 200", loop: '["201","201","201"]', timed: "go" };
      for (const [name, output] of Object.entries(ends))
        expect(await ended(runs[name as keyof typeof ends]), name).toMatchObject({ status: "completed", error: null, output });
    },
    /** What dies with it twice is not called a third time. */
    async expectGivenUp() {
      expect(await ended(runs.twice)).toMatchObject({ status: "failed", error: expect.stringContaining("It is not started again.") });
      const answer = await fetch(address, { method: "POST", body: '{"n": 1}' });
      expect(answer.status).toBe(200);
    },
    /** That is told, and starts the error workflow, which another death does not repeat. */
    async expectToldOnce() {
      expect(await ended(runs.called)).toMatchObject({ status: "completed", output: "1" });
      expect((await fetch(address, { method: "POST", body: '{"n": 2}' })).status).toBe(409);
      const titles = async () => (await api.get("/notifications", { schema: NotificationPage })).body.items.map(({ title }) => title);
      await expect.poll(titles, { timeout: 30_000 }).toContainEqual(expect.stringContaining("A run of Twice failed"));
      const errorRuns = async () => (await everyExecution(api)).filter(({ trigger }) => trigger === "error");
      await expect.poll(async () => (await errorRuns()).map(({ status }) => status), { timeout: 30_000 }).toEqual(["completed"]);
      expect(JSON.parse((await errorRuns())[0]?.input ?? "")).toMatchObject({ execution_id: runs.twice, failed_node: { id: "h" } });

      const ours = new Set([told, inner, once, twice, outer, loop, called, timed]);
      const all = (await everyExecution(api)).filter(({ workflow_id }) => ours.has(workflow_id));
      expect(all.filter(({ parent }) => parent !== null)).toMatchObject([
        { workflow_id: inner, parent: { execution_id: runs.outer, node_id: "w" } },
      ]);
      expect(all).toHaveLength(8);
      const outcomesOf = (contains: string) => models.calls({ contains }).map(({ outcome }) => outcome);
      for (const message of ["once of", "inner of", "item a", "item b", "item c"])
        expect(outcomesOf(message), message).toEqual(["aborted", "answered"]);
      expect(outcomesOf("twice of")).toEqual(["aborted", "aborted"]);
      const calls = models.calls().filter(({ model }) => GATES.some((gate) => model === `gate-${gate}`));
      for (const made of Map.groupBy(calls, ({ message }) => message).values())
        expect(new Set(made.map((call) => call.key)).size, made[0]?.message).toBe(1);
    },
  };
}
