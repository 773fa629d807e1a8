import { expect, test } from "@playwright/test";
import pg from "pg";
import { graphOf } from "#e2e/api/graphs.ts";
import { apiClient } from "#e2e/api-client.ts";
import { type FunctionRun, type ReceivedEvent, startInngestServer } from "#e2e/fakes/inngest-server.ts";
import { startModelServer } from "#e2e/fakes/model-server.ts";
import { startTreadle } from "#e2e/server.ts";
import { noLimits, onPostgres } from "#e2e/system/install.ts";
import { newDatabase } from "#e2e/system/own-postgres.ts";
import { until } from "#e2e/until.ts";
import { Agent } from "#server/features/agents/schema.ts";
import { LlmKey } from "#server/features/llm-keys/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { ExecuteResult, Execution } from "#server/runs/schema.ts";

const key = `sk-service-${"inngests".repeat(5)}`;
const SIGNING_KEY = "00112233445566778899aabbccddeeff";
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test("with an Inngest server nothing here carries a run that works outside: it is asked by ids, calls each step itself, and is woken by a decision", {
  tag: "@main",
}, async () => {
  const postgres = await newDatabase();
  const models = await startModelServer();
  const inngest = await startInngestServer(SIGNING_KEY);
  const server = await startTreadle({
    env: {
      ...onPostgres(postgres, key),
      ...noLimits,
      ALLOW_PRIVATE_NETWORK: "1",
      INNGEST_BASE_URL: inngest.url,
      INNGEST_EVENT_KEY: "event-key-1",
      INNGEST_SIGNING_KEY: SIGNING_KEY,
    },
  });
  const api = apiClient({ url: server.url, key });
  const database = new pg.Client(postgres.url);
  await database.connect();
  const address = `${server.url}/api/inngest`;

  // Only the server itself can have the app register with it.
  expect(await inngest.register(address, { isSigned: false })).toBe(401);
  expect(inngest.registrations).toEqual([]);
  expect(await inngest.register(address)).toBe(200);
  expect(inngest.registrations).toMatchObject([{ url: address }]);
  const triggers = new Map(inngest.registrations[0]?.functions.map(({ id, triggers }) => [id, triggers]));
  expect(triggers.get("treadle-run-workflow")).toMatchObject([{ event: "execution/requested" }]);
  expect(triggers.get("treadle-fire-schedules")).toMatchObject([{ cron: "* * * * *" }]);

  const fields = { name: "Stand-in", provider: "openai_compatible", api_key: "stand-in-key", base_url: models.url };
  const { body: llm } = await api.post("/llm-keys", fields, { schema: LlmKey, status: 201 });
  const { body: agent } = await api.post("/agents", { name: "Scout", model: "echo", llm_key_id: llm.id }, { schema: Agent, status: 201 });
  const execute = async (name: string, graph: ReturnType<typeof graphOf>) => {
    const { body: flow } = await api.post("/workflows", { name, ...graph }, { schema: Workflow, status: 201 });
    return (await api.post(`/workflows/${flow.id}/execute`, { input: "hush-hush" }, { schema: ExecuteResult, status: 202 })).body
      .execution_id;
  };
  const read = async (id: string) => (await api.get(`/executions/${id}`, { schema: Execution })).body;
  const sent = (name: string, about: string): ReceivedEvent[] =>
    inngest.events.filter((event) => event.name === name && Object.values(event.data).includes(about));
  const requested = (id: string) => sent("execution/requested", id);

  const asked = await execute(
    "Checked",
    graphOf(
      {
        t: ["trigger"],
        a: ["agent", { agent_id: agent.id, input: "scout {{trigger.output}}" }],
        Check: ["humanLoop"],
        o: ["output", { value: "{{Check.comment}}, {{Scout.output}}" }],
      },
      ["t>a", "a>Check", "Check.approved>o"],
    ),
  );
  // A run of pure nodes is over before anybody could be asked.
  const pure = await execute("Pure", graphOf({ t: ["trigger"], o: ["output"] }, ["t>o"]));
  expect(await read(pure)).toMatchObject({ status: "completed", output: "hush-hush" });
  const other = await execute("Other", graphOf({ t: ["trigger"], Check: ["humanLoop"], o: ["output"] }, ["t>Check", "Check.approved>o"]));
  for (const id of [asked, other]) {
    await until(() => requested(id).length === 1);
    expect(requested(id)).toMatchObject([
      { id: `${id}-0`, data: { execution_id: id, project_id: expect.stringMatching(UUID), dispatch: 0 } },
    ]);
  }

  // The sweeper finds that nobody has begun them, and does no more than to ask again.
  await database.query("UPDATE executions SET run_at = created_at WHERE id = ANY($1::uuid[])", [[asked, other]]);
  for (const id of [asked, other]) {
    await until(() => requested(id).length === 2);
    expect(requested(id)[1]?.id).toBe(`${id}-0`);
    expect(await read(id)).toMatchObject({ status: "pending", started_at: null });
  }
  const { rows } = await database.query(
    "SELECT (SELECT sum(lease_epoch)::int FROM executions WHERE completed_at IS NULL) AS leases, to_regnamespace('treadle_jobs') AS executor",
  );
  expect(rows).toEqual([{ leases: 0, executor: null }]);
  expect(models.calls({ contains: "hush-hush" })).toEqual([]);

  // It calls what it was asked for, as nobody else can.
  const [event] = requested(asked) as [ReceivedEvent];
  const run: FunctionRun = { fnId: "treadle-run-workflow", event, steps: new Map() };
  expect(await inngest.carry(address, run, { isSigned: false })).toBe(401);
  expect((await read(asked)).status).toBe("pending");
  const wait = await inngest.carry(address, run);
  expect(wait).toMatchObject({ event: "execution/wake", expression: "event.data.execution_id == async.data.execution_id" });
  expect((await read(asked)).status).toBe("paused");
  const { body: reviews } = await api.get("/reviews?status=waiting", { status: 200 });
  const review_id: string = reviews.items[0].id;
  await until(() => sent("review/opened", review_id).length > 0);

  // A decision wakes the run there, and it goes on from where it was.
  await api.post(`/executions/${asked}/approve`, { decision: "approved", comment: "well done" }, { schema: Execution, status: 200 });
  await until(() => sent("execution/wake", asked).length > 0);
  const [wake] = sent("execution/wake", asked);
  expect(wake).toMatchObject({ id: `${review_id}-decided`, data: { execution_id: asked } });
  if (typeof wait !== "object") throw new Error("The run does not wait.");
  run.steps.set(wait.id, wake);
  expect(await inngest.carry(address, run)).toBeUndefined();
  expect(await read(asked)).toMatchObject({ status: "completed", output: "well done, Echo: scout hush-hush" });
  expect(models.calls({ contains: "hush-hush" })).toHaveLength(1);

  // What reaches out, waits and composes: woken at its time, by a call from outside, and by the end of another run.
  const { body: helper } = await api.post(
    "/workflows",
    { name: "Helper", ...graphOf({ t: ["trigger"], a: ["agent", { agent_id: agent.id, input: "help {{trigger.output}}" }] }, ["t>a"]) },
    { schema: Workflow, status: 201 },
  );
  const body = '{"model": "echo", "messages": [{"role": "user", "content": "call {{trigger.output}}"}]}';
  const composed = await execute(
    "Composed",
    graphOf(
      {
        t: ["trigger"],
        call: [
          "http",
          {
            method: "POST",
            url: `${models.url}/chat/completions`,
            headers: [{ name: "Authorization", value: "Bearer stand-in-key" }],
            body_type: "json",
            body,
          },
        ],
        size: ["code", { inputs: [{ name: "text", value: "{{call.output.choices[0].message.content}}" }], code: "len(text)", timeout: 10 }],
        moment: ["wait", { mode: "for", seconds: 1 }],
        told: ["wait", { mode: "callback" }],
        sub: ["workflow", { workflow_id: helper.id, input: "{{trigger.output}}" }],
        o: ["output", { value: "{{size.output}} {{told.output.word}} {{sub.output}}" }],
      },
      ["t>call", "call>size", "size>moment", "moment.done>told", "told.done>sub", "sub>o"],
    ),
  );
  const carried = async (id: string) => {
    await until(() => requested(id).length > 0);
    return { fnId: run.fnId, event: requested(id)[0] as ReceivedEvent, steps: new Map() } satisfies FunctionRun;
  };
  const main = await carried(composed);
  /** Carries it on until it waits; then what it waits for is here, or its time is over. */
  const rests = async (comes: () => Promise<unknown>) => {
    const wait = await inngest.carry(address, main);
    if (typeof wait !== "object") throw new Error(`The run does not wait: ${wait}`);
    main.steps.set(wait.id, await comes());
  };
  const woken = (from: number) => until(() => sent("execution/wake", composed)[from]);
  await rests(async () => {
    const { node_results } = await read(composed);
    expect(node_results.moment?.status).toBe("waiting");
    await until(() => Date.now() > Date.parse(node_results.moment?.waits_until ?? ""));
    return null;
  });
  const before = sent("execution/wake", composed).length;
  await rests(async () => {
    const { node_results } = await read(composed);
    const answer = await fetch(node_results.told?.resume_url ?? "", { method: "POST", body: '{"word": "resumed"}' });
    expect(answer.status).toBe(200);
    return woken(before);
  });
  await rests(async () => {
    const child = (await read(composed)).node_results.sub?.child_execution_id ?? "";
    expect(await inngest.carry(address, await carried(child))).toBeUndefined();
    expect(await read(child)).toMatchObject({ status: "completed", parent: { execution_id: composed } });
    return woken(before + 1);
  });
  expect(await inngest.carry(address, main)).toBeUndefined();
  expect(await read(composed)).toMatchObject({ status: "completed", output: "20 resumed Echo: help hush-hush" });
  expect(models.calls({ contains: "call hush-hush" }).map((call) => call.key)).toEqual([`${composed}:call:`]);
  expect(models.calls({ contains: "help hush-hush" })).toHaveLength(1);

  expect(requested(pure)).toEqual([]);
  await api.post(`/executions/${other}/cancel`, {}, { schema: Execution, status: 200 });
  await until(() => sent("execution/cancelled", other).length > 0);
  // Asked for again when it has ended, it is not begun.
  const late: FunctionRun = { fnId: run.fnId, event: requested(other)[0] as ReceivedEvent, steps: new Map() };
  expect(await inngest.carry(address, late)).toBeUndefined();
  expect(await read(other)).toMatchObject({ status: "cancelled", started_at: null });

  // Ids and counts are all that leaves the house, also in what steps have come to.
  for (const { name, data } of inngest.events)
    for (const value of Object.values(data)) expect(typeof value === "number" || UUID.test(String(value)), `${name} ${value}`).toBe(true);
  for (const secret of ["hush-hush", "well done", "Checked", "Scout", "stand-in-key", "ada@example.com", SIGNING_KEY])
    expect(inngest.texts.filter((text) => text.includes(secret))).toEqual([]);
  expect(inngest.unknown).toEqual([]);

  await server.stop();
  await database.end();
  await inngest.stop();
  await models.stop();
  await postgres.stop();
});
