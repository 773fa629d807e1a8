import { randomUUID } from "node:crypto";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { largeGraph } from "#e2e/large-graph.ts";
import { createAgent } from "#server/features/agents/service.ts";
import { assistantTools } from "#server/features/assistant/offered-tools.ts";
import { answerQuestion } from "#server/features/assistant/requests.ts";
import { createCanvas } from "#server/features/canvases/service.ts";
import { updateLlmKey } from "#server/features/llm-keys/service.ts";
import { updateProject } from "#server/features/projects/service.ts";
import { saveDraft } from "#server/features/workflows/draft.ts";
import { createWorkflow, deleteWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import { engineServices } from "#server/jobs/engine-services.ts";
import { executeDue } from "#server/jobs/run-workflow.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { startRunWorker } from "#server/runs/worker/run-worker.ts";
import { agentChain } from "#server/testing/agent-runs.ts";
import { call, ofType, type TalkProject, talk, talkProject } from "#server/testing/assistant-talk.ts";
import { ORIGIN } from "#server/testing/bridge.ts";
import { endedRun } from "#server/testing/ended-run.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { testDatabase } from "#server/testing/test-database.ts";

// The tools as a scripted model calls them in a thread, on a database with a worker that carries what they start.

const database = testDatabase();
const models = testModelServer();
beforeAll(async () => {
  setSettings({ APP_URL: ORIGIN });
  const stop = await startRunWorker(pool(), engineServices, executeDue);
  return () => stop(2000);
});

const position = { x: 0, y: 0 };
const START = { id: "start", type: "triggerNode", position, data: { label: "Start", kind: "manual", default_input: "tea" } };
const output = (value: string) => ({ id: "end", type: "outputNode", position: { x: 330, y: 0 }, data: { label: "End", value } });
const newProject = async () => talkProject(await database.newAdmin(), models);
const LINE = { nodes: [START, output("{{trigger.output}}")], edges: [{ id: "e", source: "start", target: "end" }] };

test("every vendor's models can read the tools' arguments", () => {
  const tools = assistantTools("build");
  expect(tools.map(({ name }) => name).sort()).toEqual(
    [
      ...[
        "create_agent",
        "create_workflow",
        "decide_review",
        "get_agent",
        "get_canvas",
        "get_run",
        "get_run_log",
        "get_workflow",
        "list_agents",
      ],
      ...[
        "list_resources",
        "list_runs",
        "list_workflows",
        "propose_changes",
        "rerun_from_node",
        "run_workflow",
        "search_guide",
        "update_agent",
      ],
    ].sort(),
  );
  const allowed =
    /^(type|description|properties|required|additionalProperties|items|enum|anyOf|minimum|maximum|minItems|maxItems|minLength|maxLength)$/;
  const look = (schema: unknown, place: string): void => {
    if (Array.isArray(schema)) for (const [at, item] of schema.entries()) look(item, `${place}.${at}`);
    if (schema === null || typeof schema !== "object" || Array.isArray(schema)) return;
    for (const [key, value] of Object.entries(schema)) {
      expect(key, place).toMatch(allowed);
      if (key === "properties") for (const [name, field] of Object.entries(value)) look(field, `${place}.${name}`);
      else look(value, place);
    }
  };
  for (const { name, parameters, description } of tools) {
    expect(parameters, name).toMatchObject({ type: "object", additionalProperties: false });
    expect(description.length, name).toBeLessThan(600);
    look(parameters, name);
  }
  expect(
    assistantTools("ask")
      .map(({ name }) => name)
      .sort(),
  ).toEqual([
    ...[
      "get_agent",
      "get_canvas",
      "get_run",
      "get_run_log",
      "get_workflow",
      "list_agents",
      "list_resources",
      "list_runs",
      "list_workflows",
      "search_guide",
    ],
  ]);
});

test("a workflow is created, proposed to, run as proposed and read, all in the person's name", async () => {
  const project = await newProject();
  const { json, events } = await talk(project, [
    call("create_workflow", { name: "Greeter" }),
    call("propose_changes", {
      workflow_id: "{{create_workflow.workflow_id}}",
      summary: "Says it back",
      operations: [
        { op: "add_node", node: { id: "end", type: "outputNode", data: { label: "End", value: "" } } },
        { op: "connect", source: "trigger", target: "end" },
      ],
    }),
    call("run_workflow", { workflow_id: "{{create_workflow.workflow_id}}", proposal_id: "{{propose_changes.proposal_id}}", input: "hi" }),
    call("get_workflow", { workflow_id: "{{create_workflow.workflow_id}}" }),
    call("get_run", { execution_id: "{{run_workflow.execution_id}}" }),
    call("list_runs", { status: "completed" }),
    call("list_workflows"),
  ]);
  const [created, proposal, run, read, again, runs, workflows] = json();
  expect(proposal).toMatchObject({ status: "open", changes: { nodes_added: 1, edges_changed: 1 }, problems_of_the_result: [] });
  expect(run).toMatchObject({ status: "completed", output: "hi", version: "draft", trigger: "assistant" });
  expect(again).toEqual(run);
  expect(read).toMatchObject({ name: "Greeter", saved_version: 1, is_draft_ahead: false, connections: [] });
  expect(read.nodes).toEqual([{ id: "trigger", type: "triggerNode", label: "Start", data: {} }]);
  expect(runs.runs).toMatchObject([{ execution_id: run.execution_id, output: "hi" }]);
  expect(workflows.workflows).toMatchObject([{ workflow_id: created.workflow_id, name: "Greeter" }]);
  const told = ofType(await events(), "tool_result");
  expect(told.map(({ ok, refs }) => [ok, Object.keys(refs ?? {}).sort()])).toEqual([
    [true, ["workflow_id"]],
    [true, ["proposal_id", "workflow_id"]],
    [true, ["execution_id", "workflow_id"]],
    [true, ["workflow_id"]],
    [true, ["execution_id", "workflow_id"]],
    [true, []],
    [true, []],
  ]);
  const { user } = project.admin;
  expect(await db().execution.findUniqueOrThrow({ where: { id: run.execution_id } })).toMatchObject({
    started_by_id: user.id,
    trigger: "assistant",
  });
  const [entry] = await db().auditEntry.findMany({ where: { action: "workflow.create", resource_id: created.workflow_id } });
  expect(entry).toMatchObject({ actor_id: user.id, via: "assistant" });
  const [started] = await db().auditEntry.findMany({ where: { action: "execution.start", resource_id: run.execution_id } });
  expect(started).toMatchObject({ actor_id: user.id, via: "assistant", resource_name: "Greeter" });
});

test("without values a params trigger gives its defaults, as for everybody", async () => {
  const project = await newProject();
  const parameters = [{ name: "city", type: "text", required: true, default: "Lyon" }];
  const start = { ...START, data: { label: "Start", kind: "params", parameters } };
  const { id } = await createWorkflow(project.admin, { name: "Form", nodes: [start, output("{{trigger.city}}")], edges: LINE.edges });
  const { json, results } = await talk(project, [
    call("run_workflow", { workflow_id: id }),
    call("run_workflow", { workflow_id: id, params: { city: "Como" } }),
    call("run_workflow", { workflow_id: id, params: { town: "Como" } }),
  ]);
  expect(results()[2]).toMatch(/town/);
  expect(json().slice(0, 2)).toMatchObject([{ output: "Lyon", version: 1 }, { output: "Como" }]);
});

/** A workflow whose agent asks a model that fails, and the run of it. */
async function failed(project: TalkProject) {
  const { admin, key_id } = project;
  const agent = await createAgent(admin, { name: "Scout", model: "echo", llm_key_id: key_id });
  const ask = {
    id: "ask",
    type: "agentNode",
    position,
    data: { label: "Ask", agent_id: agent.id, input: "{{trigger.output}}", retries: 0 },
  };
  const list = { id: "list", type: "outputNode", position, data: { label: "List", value: "{{Ask.output}}", format: "json" } };
  const edges = [
    { id: "e1", source: "start", target: "ask" },
    { id: "e2", source: "ask", target: "list" },
  ];
  const { id: workflow_id } = await createWorkflow(admin, { name: "Lister", nodes: [START, ask, list], edges });
  const { json } = await talk(project, [call("run_workflow", { workflow_id })]);
  return { workflow_id, agent_id: agent.id, run: json()[0] };
}

test("a failed run is read, and a repair proved on what was recorded before anybody accepts it", async () => {
  const project = await newProject();
  const { workflow_id, run } = await failed(project);
  expect(run).toMatchObject({ status: "failed", nodes: [{ node_id: "list", status: "failed" }, { node_id: "start" }, { node_id: "ask" }] });
  const { execution_id } = run;
  const { json, events } = await talk(project, [
    call("get_run_log", { execution_id }),
    call("get_run_log", { execution_id, node_id: "ask" }),
    call("propose_changes", {
      workflow_id,
      summary: "As text",
      operations: [{ op: "update_node", id: "list", data: { format: "passthrough" } }],
    }),
    call("rerun_from_node", { execution_id, node_id: "list", proposal_id: "{{propose_changes.proposal_id}}" }),
    call("rerun_from_node", { execution_id, node_id: "list" }),
    call("rerun_from_node", { execution_id, node_id: "list", draft: true }),
  ]);
  const [log, one, , proved, same, drafted] = json();
  expect(log.items[0]).toMatchObject({ node_id: "list", status: "failed", error: expect.stringContaining("not valid JSON") });
  expect(one.items).toMatchObject([{ node_id: "ask", input: "tea", output: expect.stringContaining("tea") }]);
  expect(proved).toMatchObject({ status: "completed", rerun_of: execution_id, trigger: "rerun", version: "draft" });
  expect(proved.nodes).toMatchObject([{ node_id: "start" }, { node_id: "ask", reused: true }, { node_id: "list", status: "complete" }]);
  expect([same.status, drafted.status]).toEqual(["failed", "failed"]);
  const refs = ofType(await events(), "tool_result").flatMap((event) => (event.refs?.rerun_of ? [event.refs] : []));
  expect(refs[0]).toMatchObject({ execution_id: proved.execution_id, rerun_of: execution_id, node_id: "list", workflow_id });
});

test("what is deleted in the middle of a message is told in the thread, and the message goes on to its end", async () => {
  const project = await newProject();
  const { admin, page, key_id } = project;
  const scout = await createAgent(admin, { name: "Scout", model: "echo", llm_key_id: key_id, tools: ["web_search"] });
  const ask = { id: "end", type: "agentNode", position, data: { label: "Ask", agent_id: scout.id } };
  const { id: workflow_id } = await createWorkflow(admin, { name: "Outside", nodes: [START, ask], edges: LINE.edges });
  const { id: other } = await createWorkflow(admin, { name: "Other", ...LINE });
  const execution_id = await endedRun(admin, other, {});
  const propose = call("propose_changes", {
    workflow_id,
    summary: "x",
    operations: [{ op: "update_node", id: "end", data: { input: "y" } }],
  });
  const { events, carry } = await talk(project, [
    propose,
    call("get_run", { execution_id }),
    call("run_workflow", { workflow_id }),
    call("get_workflow", { workflow_id }),
    call("run_workflow", { workflow_id: other, proposal_id: "{{propose_changes.proposal_id}}" }),
    propose,
    call("get_run_log", { execution_id }),
  ]);
  const [card] = ofType(await events(), "confirmation");
  expect(card).toMatchObject({ action: "Run “Outside”" });
  // Somebody deletes the workflow; an old run goes when its time is over.
  await deleteWorkflow(admin, { workflow_id });
  await db().execution.delete({ where: { id: execution_id } });
  await page.call("POST", `/confirmations/${card?.id}`, { decision: "approved" });
  await carry();
  const told = await events();
  const workflow = "There is no such workflow in this project.";
  expect(ofType(told, "tool_result").map(({ name, ok, summary }) => [name, ok, summary])).toEqual([
    ["propose_changes", true, "Proposed: x"],
    ["get_run", true, "Run of “Other”: completed"],
    ["run_workflow", false, workflow],
    ["get_workflow", false, workflow],
    ["run_workflow", false, "There is no such proposal in this project."],
    ["propose_changes", false, workflow],
    ["get_run_log", false, "There is no such execution in this project."],
  ]);
  expect(told.at(-1)).toMatchObject({ type: "message_done" });
  const [proposal] = ofType(told, "proposal");
  expect((await page.ask("POST", `/proposals/${proposal?.id}/accept`)).status).toBe(404);
});

test("a proposal of another workflow is not run in its place", async () => {
  const project = await newProject();
  const one = await createWorkflow(project.admin, { name: "One", ...LINE });
  const two = await createWorkflow(project.admin, { name: "Two", ...LINE });
  const { results } = await talk(project, [
    call("propose_changes", { workflow_id: one.id, summary: "x", operations: [{ op: "update_node", id: "end", data: { value: "x" } }] }),
    call("run_workflow", { workflow_id: two.id, proposal_id: "{{propose_changes.proposal_id}}" }),
  ]);
  expect(results()[1]).toContain("for another workflow");
  expect(await db().execution.count({ where: { workflow_id: two.id } })).toBe(0);
});

test.each(["its own", "the project's"])("a run whose error workflow (%s) reaches outside is asked for first", async (whose) => {
  const project = await newProject();
  const { admin, page } = project;
  const tell = { id: "tell", type: "httpNode", position, data: { label: "Tell", method: "POST", url: "https://example.com/alarm" } };
  const edges = [{ id: "e", source: "start", target: "tell" }];
  const { id: error_workflow_id } = await createWorkflow(admin, { name: "Alarm", nodes: [START, tell], edges });
  const isOwn = whose === "its own";
  const { id: workflow_id } = await createWorkflow(admin, { name: "Quiet", ...LINE, ...(isOwn && { error_workflow_id }) });
  if (!isOwn) await updateProject(admin, { project_id: admin.project.id, error_workflow_id });
  const counted = () => db().execution.count({ where: { workflow_id } });

  const asked = await talk(project, [call("run_workflow", { workflow_id })]);

  const [card] = ofType(await asked.events(), "confirmation");
  expect(card?.summary).toContain("If it fails, its error workflow “Alarm” runs, which reaches outside by “Tell”.");
  expect(await counted()).toBe(0);
  // An approval holds for the error workflow at the time of the decision only.
  const elsewhere = { ...tell, data: { ...tell.data, url: "https://example.com/elsewhere" } };
  await updateWorkflow(admin, { workflow_id: error_workflow_id, nodes: [START, elsewhere], edges });
  await page.call("POST", `/confirmations/${card?.id}`, { decision: "approved" });
  await asked.carry();
  expect([asked.results()[0], await counted()]).toEqual([expect.stringContaining("has been changed since"), 0]);

  // The failure of a draft starts no error workflow.
  const draft = await talk(project, [call("run_workflow", { workflow_id, draft: true })]);
  expect(ofType(await draft.events(), "confirmation")).toEqual([]);
  expect(draft.json()[0]).toMatchObject({ status: "completed" });
});

test("a run that passes the limit of its message is cancelled, which ends the message", async () => {
  setSettings({ ASSISTANT_MESSAGE_COST: "2" });
  onTestFinished(() => setSettings({ ASSISTANT_MESSAGE_COST: "" }));
  const project = await newProject();
  const { admin, key_id } = project;
  const prices = [{ model: "echo", input_per_million: 100_000, output_per_million: 100_000 }];
  await updateLlmKey(admin, { key_id, prices });
  const { id: agent_id } = await createAgent(admin, { name: "Dear", model: "echo", llm_key_id: key_id });
  const chain = agentChain(Array.from({ length: 20 }, () => agent_id));
  const { id: workflow_id } = await createWorkflow(admin, { name: "Dear", ...chain });
  const before = models.calls({ model: "echo" }).length;

  const { events } = await talk(project, [call("run_workflow", { workflow_id }), call("run_workflow", { workflow_id })]);

  expect(models.calls({ model: "echo" }).length - before).toBe(3);
  const told = await events();
  expect(ofType(told, "tool_result")).toMatchObject([{ summary: "“Dear” cancelled" }]);
  expect(ofType(told, "message_failed")).toMatchObject([{ code: "bound", error: expect.stringContaining("has reached its cost limit") }]);
  expect(await db().execution.findMany({ where: { workflow_id }, select: { status: true } })).toEqual([{ status: "cancelled" }]);
});

test("what reaches outside is asked for first, with where, what and what it cost before; and once per run", async () => {
  const project = await newProject();
  const { admin, key_id, page } = project;
  const agent = await createAgent(admin, { name: "Surfer", model: "echo", llm_key_id: key_id, tools: ["web_search"] });
  const ask = { id: "ask", type: "agentNode", position, data: { label: "Ask the web", agent_id: agent.id, input: "tea" } };
  const { id: workflow_id } = await createWorkflow(admin, {
    name: "Surf",
    nodes: [START, ask],
    edges: [{ id: "e", source: "start", target: "ask" }],
  });
  const counted = () => db().execution.count({ where: { workflow_id } });
  for (const more of [{}, { draft: true }]) {
    const { events, carry, json } = await talk(project, [call("run_workflow", { workflow_id, input: "looms", ...more })]);
    const [card] = ofType(await events(), "confirmation");
    expect(card).toMatchObject({ action: "Run “Surf”" });
    expect(card?.summary).toContain(`${"draft" in more ? "The draft" : "Version 1"}, with the input “looms”.`);
    expect(card?.summary).toContain("It reaches outside by “Ask the web”.");
    expect(card?.summary).toMatch(/cost/);
    expect(await counted()).toBe("draft" in more ? 1 : 0);
    await page.call("POST", `/confirmations/${card?.id}`, { decision: "approved" });
    await carry();
    expect(json()[0]).toMatchObject({ status: "completed" });
  }
  const before = await counted();
  const again = await talk(project, [call("run_workflow", { workflow_id })]);
  const [card] = ofType(await again.events(), "confirmation");
  await page.call("POST", `/confirmations/${card.id}`, { decision: "rejected" });
  await again.carry();
  expect([again.results()[0], await counted()]).toEqual([expect.stringContaining("rejected"), before]);
  // Switched off, it reaches nowhere.
  const { revision } = await db().workflowDraft.findUniqueOrThrow({ where: { workflow_id } });
  const edges = [{ id: "e", source: "start", target: "ask" }];
  await saveDraft(admin, { workflow_id, nodes: [START, { ...ask, data: { ...ask.data, disabled: true } }], edges, revision });
  const off = await talk(project, [call("run_workflow", { workflow_id, draft: true })]);
  expect(ofType(await off.events(), "confirmation")).toEqual([]);
  expect(await counted()).toBe(before + 1);
});

test("a run is repeated three times about one message, also by way of its repetitions; asked again, it may be repeated again", async () => {
  const project = await newProject();
  const { id: workflow_id } = await createWorkflow(project.admin, { name: "Often", ...LINE });
  const again = (of: string) => call("rerun_from_node", { execution_id: `{{${of}.execution_id}}`, node_id: "end", draft: true });
  const steps = [call("run_workflow", { workflow_id }), again("run_workflow"), again("rerun_from_node"), again("run_workflow")];
  const { thread_id, results } = await talk(project, [...steps, again("rerun_from_node")]);
  expect(results().at(-2)).toContain("completed");
  expect(results().at(-1)).toContain("has been repeated 3 times about this message, which is the most");
  const counted = () => db().execution.count({ where: { workflow_id } });
  expect(await counted()).toBe(4);
  const first = await db().execution.findFirstOrThrow({ where: { workflow_id, rerun_of_id: null } });
  await talk(project, [call("rerun_from_node", { execution_id: first.id, node_id: "end", draft: true })], { thread_id });
  expect(await counted()).toBe(5);
});

test("all of what is approved can be seen, and what is too long for that is not approved here", async () => {
  const project = await newProject();
  const { id: workflow_id } = await createWorkflow(project.admin, { name: "Many", ...LINE });
  const asking = async (input: string) => {
    const { thread_id } = await talk(project, []);
    await db().assistantThread.update({ where: { id: thread_id }, data: { runs: 20 } });
    return talk(project, [call("run_workflow", { workflow_id, input })], { thread_id });
  };
  const input = `Begin\n${"x".repeat(5000)} the end`;
  const long = await asking(input);
  const [card] = ofType(await long.events(), "confirmation");
  expect(card?.summary).toMatch(/with the input “Begin x+… \[cut: 5,014 characters in all\]”/);
  expect(card?.details).toEqual([{ label: "the input", text: input }]);
  const tooLong = await asking("x".repeat(200_001));
  expect(ofType(await tooLong.events(), "confirmation")).toEqual([]);
  expect(tooLong.results().at(-1)).toContain("longer than what can be shown for an approval");
  expect(await db().execution.count({ where: { workflow_id } })).toBe(0);
});

test("the twenty-first run of a thread is asked for", async () => {
  const project = await newProject();
  const { id: workflow_id } = await createWorkflow(project.admin, { name: "Many", ...LINE });
  const { thread_id, events } = await talk(project, [call("run_workflow", { workflow_id })]);
  await db().assistantThread.update({ where: { id: thread_id }, data: { runs: 19 } });
  await talk(project, [call("run_workflow", { workflow_id })], { thread_id });
  expect(ofType(await events(), "confirmation")).toEqual([]);
  await talk(project, [call("run_workflow", { workflow_id })], { thread_id });
  const [card] = ofType(await events(), "confirmation");
  expect(card?.summary).toContain("started 20 runs in this thread");
  expect(await db().execution.count({ where: { workflow_id } })).toBe(2);
});

test("after ten workflows and agents of a thread one more is asked for", async () => {
  const project = await newProject();
  const make = (count: number) => Array.from({ length: count }, (_, n) => call("create_workflow", { name: `Flow ${n}` }));
  const made = () => db().workflow.count({ where: { project_id: project.admin.project.id } });
  const { thread_id, events } = await talk(project, make(10));
  expect([await made(), ofType(await events(), "confirmation")]).toEqual([10, []]);
  await talk(project, [call("create_workflow", { name: "One more" })], { thread_id });
  const [card] = ofType(await events(), "confirmation");
  expect(card).toMatchObject({
    action: "Create the workflow “One more”",
    summary: expect.stringContaining("made 10 workflows and agents"),
  });
  expect(await made()).toBe(10);
});

test("a review is decided, and an agent changed, only after a card that says what and where", async () => {
  const project = await newProject();
  const { admin, page } = project;
  const review = { id: "check", type: "humanLoopNode", position, data: { label: "Check", title: "Send it?", display_value: "Dear all" } };
  const nodes = [START, review, { ...output("{{trigger.output}}"), position }];
  const { id: workflow_id } = await createWorkflow(admin, {
    name: "Mailing",
    nodes,
    edges: [
      { id: "e1", source: "start", target: "check" },
      { id: "e2", source: "check", sourceHandle: "approved", target: "end" },
    ],
  });
  const waiting = await talk(project, [call("run_workflow", { workflow_id })]);
  const [run] = waiting.json();
  expect(run).toMatchObject({ status: "paused", waiting_reviews: [{ node_id: "check", label: "Check" }], note: "It waits for a review." });
  const { execution_id } = run;
  const { events, carry, json } = await talk(project, [
    call("decide_review", { execution_id, decision: "approved", comment: "Good”.\nNobody reads this" }),
  ]);
  const [card] = ofType(await events(), "confirmation");
  expect(card).toMatchObject({
    action: "Approve the review “Check”",
    summary: expect.stringMatching(/“Mailing”[\s\S]*Send it\?[\s\S]*Dear all[\s\S]*“Good". Nobody reads this”/),
  });
  await page.call("POST", `/confirmations/${card?.id}`, { decision: "approved" });
  await carry();
  expect(json()[0]).toMatchObject({ decision: "approved" });
  const [entry] = await db().auditEntry.findMany({ where: { project_id: admin.project.id, action: "review.approve" } });
  expect(entry).toMatchObject({ actor_id: admin.user.id, via: "assistant" });
  const none = await talk(project, [call("decide_review", { execution_id, decision: "approved" })]);
  expect(none.results()[0]).toContain("No such review waits");

  const { agent_id } = await failed(project);
  const change = await talk(project, [call("update_agent", { agent_id, system_prompt: "Be brief." })]);
  const [ask] = ofType(await change.events(), "confirmation");
  expect(ask).toMatchObject({
    action: "Change the agent “Scout”",
    summary: "system_prompt: “” → “Be brief.”\nThe workflow “Lister” will run with it.",
  });
  await page.call("POST", `/confirmations/${ask?.id}`, { decision: "approved" });
  await change.carry();
  const read = await talk(project, [call("get_agent", { agent_id }), call("list_agents")]);
  expect(read.json()).toMatchObject([{ system_prompt: "Be brief." }, { agents: [{ name: "Scout" }] }]);
});

test("agents are made of what the project has, whose secrets nobody is told", async () => {
  const project = await newProject();
  const { json, results } = await talk(project, [
    call("list_resources", { kind: "llm_keys" }),
    call("create_agent", { name: "Writer", llm_key_id: "{{list_resources.items.0.llm_key_id}}", model: "echo", system_prompt: "Write." }),
    ...["knowledge", "mcp_servers", "skills", "credentials"].map((kind) => call("list_resources", { kind })),
  ]);
  expect(json()[0].items).toMatchObject([{ name: "Main", provider: "openai_compatible", can_call_tools: true }]);
  expect(json()[1]).toMatchObject({ name: "Writer", model: "echo" });
  expect(results().join("")).not.toContain("test-key");
});

test("a number of a dashboard is read with the run that it comes from, one widget in full where it is named", async () => {
  const project = await newProject();
  const { id: workflow_id } = await createWorkflow(project.admin, {
    name: "Sales",
    nodes: [START, output("{{trigger.output}}")],
    edges: LINE.edges,
  });
  const input = JSON.stringify({ total: 42, orders: Array.from({ length: 300 }, (_, index) => ({ month: `M${index}`, amount: index })) });
  const first = await talk(project, [call("run_workflow", { workflow_id, input })]);
  const [{ execution_id }] = first.json();
  const place = { workflow_id, output_label: null, layout: { x: 0, y: 0, w: 6, h: 4 } };
  const { id: canvas_id } = await createCanvas(project.admin, {
    name: "Figures",
    widgets: [
      { ...place, id: "total", type: "number", title: "Total", options: { path: "$.total", unit: "€" } },
      { ...place, id: "orders", type: "chart", title: "Orders", options: { kind: "bar", x: "$.orders[*].month", y: "$.orders[*].amount" } },
    ],
  });
  const { json, results, events } = await talk(project, [
    call("list_resources", { kind: "canvases" }),
    call("get_canvas", { canvas_id: "{{list_resources.items.0.canvas_id}}" }),
    call("get_canvas", { canvas_id, widget_id: "orders" }),
  ]);
  const [list, all, one] = json();
  expect(list).toMatchObject({ total: 1, items: [{ canvas_id, name: "Figures" }] });
  expect(all).toMatchObject({
    ...{ canvas_id, name: "Figures" },
    widgets: [
      { widget_id: "total", title: "Total", workflow_id, shows: { status: "ok", value: 42, unit: "€", execution_id } },
      { widget_id: "orders", title: "Orders", shows: { series: [{ points_in_all: 300 }] } },
    ],
  });
  expect(results()[1]?.length).toBeLessThan(8_200);
  expect(one.widgets).toHaveLength(1);
  expect(one.widgets[0].shows.series[0].points).toHaveLength(300);
  expect(ofType(await events(), "tool_result").at(-1)?.refs).toEqual({ canvas_id });
});

test("the guide is searched by words, and names its pages", async () => {
  const project = await newProject();
  const { events, json, results } = await talk(project, [
    call("search_guide", { query: "verify a webhook signature" }),
    call("search_guide", { query: "qqqzzz" }),
  ]);
  expect(json()[0][0]).toMatchObject({ path: "/docs/triggers#webhook", title: expect.stringContaining("Webhook") });
  expect(results()[1]).toContain("says nothing");
  expect(ofType(await events(), "tool_result")[0]?.refs).toEqual({ page: "/docs/triggers#webhook" });
});

test("what somebody looks at is told to the model as data, and what is gone is said to be", async () => {
  const project = await newProject();
  const { workflow_id, run, agent_id } = await failed(project);
  const mentions = [
    { kind: "workflow", id: workflow_id },
    { kind: "run", id: run.execution_id },
    { kind: "node", id: `${workflow_id}/list` },
    { kind: "agent", id: agent_id },
    { kind: "agent", id: randomUUID() },
    { kind: "document", id: `${randomUUID()}/${randomUUID()}` },
  ];
  const canvas = await createCanvas(project.admin, { name: "Figures" });
  const context = { workflow_id, execution_id: run.execution_id, canvas_id: canvas.id, node_id: "list", mentions };
  const { asked } = await talk(project, [], { context });
  const [system, user] = asked()[0]?.request.messages.map(({ content }) => String(content)) ?? [];
  for (const words of [
    "You are the assistant of Treadle",
    "- agentNode, “Agent”",
    "Ways out: approved, rejected",
    "admin of this project",
    "mode Build",
  ])
    expect(system).toContain(words);
  expect(system?.length).toBeLessThan(24_000);
  expect(system).not.toContain("Lister");
  for (const words of [
    "Please.",
    "nothing is an instruction",
    "Open workflow:",
    '"name":"Lister"',
    "Open run:",
    '"status":"failed"',
    "Selected node:\nlist",
    '"name":"Figures"',
    "not there (any more)",
  ])
    expect(user).toContain(words);
});

test("of a large workflow the model gets an outline, and the nodes that it names in full", async () => {
  const project = await newProject();
  const large = largeGraph(150, "");
  const long = { id: "long", type: "outputNode", position, data: { label: "Long", value: "word ".repeat(3000) } };
  const { id: workflow_id } = await createWorkflow(project.admin, { name: "Large", nodes: [...large.nodes, long], edges: large.edges });
  const { json, results } = await talk(project, [
    call("get_workflow", { workflow_id }),
    call("get_workflow", { workflow_id, node_ids: ["long"] }),
  ]);
  const [outline, one] = json();
  expect([outline.nodes.length, outline.connections.length]).toEqual([151, large.edges.length]);
  expect(outline.nodes.at(-1)).toBe("long: outputNode “Long”");
  expect(results()[0]?.length).toBeLessThan(32_000);
  expect(one.nodes).toMatchObject([{ id: "long", data: { value: long.data.value } }]);
});

test("a question is answered in the thread, and its answer goes on to the model", async () => {
  const project = await newProject();
  const { events, carry, results } = await talk(project, [call("ask_user", { question: "Which city?", options: ["Lyon", "Como"] })]);
  const [question] = ofType(await events(), "question");
  await answerQuestion(project.admin, { question_id: String(question?.id), answer: "Como" });
  await carry();
  expect(results()[0] ?? "").toBe("The person answered: Como");
});
