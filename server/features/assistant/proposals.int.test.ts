import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { openProposals, propose } from "#server/features/assistant/proposals.ts";
import { runTools } from "#server/features/assistant/run-tools.ts";
import { getEditorState, saveDraft } from "#server/features/workflows/draft.ts";
import { createWorkflow, getWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import { getVersion, listVersions } from "#server/features/workflows/versions.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { addMember } from "#server/testing/add-member.ts";
import { type Bridge, bridgeOf, ORIGIN } from "#server/testing/bridge.ts";
import { testDatabase } from "#server/testing/test-database.ts";
import { diffGraphs } from "#server/workflow/diff.ts";
import type { Operation } from "#server/workflow/operations.ts";

const database = testDatabase();
let ada: ProjectPrincipal;
let page: Bridge;
beforeAll(async () => {
  setSettings({ APP_URL: ORIGIN });
  ada = await database.newAdmin();
  page = await bridgeOf(ada);
});

const START = { id: "start", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind: "manual" } };
const END = { id: "end", type: "outputNode", position: { x: 330, y: 0 }, data: { label: "End", value: "{{trigger.output}}" } };
const graph = { nodes: [START, END], edges: [{ id: "e", source: "start", target: "end" }] };
const SPLIT: Operation[] = [
  { op: "disconnect", source: "start", target: "end" },
  { op: "add_node", node: { id: "check", type: "branchNode", data: { label: "Check", condition: "len(output) > 3" } } },
  { op: "connect", source: "start", target: "check" },
  { op: "connect", source: "check", source_handle: "true", target: "end" },
];

/** A message of somebody's thread, as the job that works on it has it, and a workflow with a proposal of it. */
async function begin(person = ada, operations = SPLIT) {
  const { id: workflow_id } = await createWorkflow(ada, { name: `W ${randomUUID()}`, ...graph });
  const owned = { project_id: person.project.id, user_id: person.user.id };
  const thread = await db().assistantThread.create({ data: owned });
  const message = await db().assistantMessage.create({ data: { thread_id: thread.id, content: "Split it", mode: "build" } });
  const place = { thread_id: thread.id, message_id: message.id };
  const more = (list: Operation[], summary = "More") => propose(person, place, { workflow_id, summary, operations: list });
  return { workflow_id, place, more, proposal: await more(operations, "Splits it") };
}
/** A workflow whose only agent node has no agent. */
const createBroken = async () => {
  const first = { id: "first", type: "agentNode", position: { x: 330, y: 0 }, data: { label: "First", agent_id: "", input: "x" } };
  const { id } = await createWorkflow(ada, {
    name: `W ${randomUUID()}`,
    nodes: [START, first],
    edges: [{ id: "e", source: "start", target: "first" }],
  });
  return { workflow_id: id };
};
const draftOf = async (workflow_id: string) => (await getEditorState(ada, { workflow_id })).draft;
const eventsOf = async (thread_id: string) =>
  (await db().assistantEvent.findMany({ where: { thread_id }, orderBy: { seq: "asc" } })).map(({ data }) => data);

test("a proposal changes nothing before it is accepted; then it is the draft, and the version published says so", async () => {
  const { workflow_id, place, proposal } = await begin();
  expect(await page.call("GET", `/proposals/${proposal.id}`)).toEqual(proposal);
  expect(proposal).toMatchObject({ status: "open", base: { draft_revision: 1, ...graph }, operations: SPLIT, problems: [] });
  expect(await draftOf(workflow_id)).toMatchObject({ revision: 1, ...graph });
  expect((await page.call("GET", `/workflows/${workflow_id}/proposals`)).items).toEqual([proposal]);

  const accepted = await page.call("POST", `/proposals/${proposal.id}/accept`);
  expect(accepted).toMatchObject({ id: proposal.id, status: "accepted", draft: { revision: 2, ...proposal.graph } });
  expect(await draftOf(workflow_id)).toEqual(accepted.draft);
  expect((await getWorkflow(ada, { workflow_id })).version).toBe(1);
  expect((await openProposals(ada, { workflow_id })).items).toEqual([]);
  expect((await page.ask("POST", `/proposals/${proposal.id}/accept`)).status).toBe(409);
  expect((await page.ask("POST", `/proposals/${proposal.id}/reject`)).status).toBe(409);
  expect(await eventsOf(place.thread_id)).toMatchObject([
    { type: "proposal", id: proposal.id, workflow_id, summary: "Splits it", status: "open" },
    { type: "decided", id: proposal.id, outcome: "accepted" },
  ]);
  const [entry] = await db().auditEntry.findMany({ where: { action: "workflow.accept_proposal", resource_id: workflow_id } });
  expect(entry).toMatchObject({
    actor_id: ada.user.id,
    detail: { proposal_id: proposal.id, revision: 2, nodes_added: 1, edges_changed: 3 },
  });

  const { nodes, edges } = accepted.draft;
  await updateWorkflow(ada, { workflow_id, nodes, edges });
  await updateWorkflow(ada, { workflow_id, nodes, edges, name: "Renamed" });
  const { items } = await listVersions(ada, { workflow_id, page: 1, per_page: 10 });
  expect(items.map(({ by }) => by)).toEqual([null, "assistant", null]);
  expect((await getVersion(ada, { workflow_id, version: 2 })).by).toBe("assistant");
});

test("of a proposal that nobody can accept any more only what it changed is kept, and it is not run", async () => {
  const { workflow_id, place, proposal, more } = await begin(ada, [{ op: "update_node", id: "end", data: { value: "New" } }]);
  const next = await more(SPLIT);
  const over = await page.call("GET", `/proposals/${proposal.id}`);
  expect(over).toMatchObject({
    status: "rejected",
    base: { nodes: [END], edges: [] },
    graph: { nodes: [{ data: { value: "New" } }], edges: [] },
  });
  expect(diffGraphs(over.base, over.graph)).toEqual(diffGraphs(proposal.base, proposal.graph));
  const { status, ...accepted } = await page.call("POST", `/proposals/${next.id}/accept`);
  expect(status).toBe("accepted");
  expect(diffGraphs(accepted.base, accepted.graph)).toEqual(diffGraphs(next.base, next.graph));
  const run = runTools.find(({ name }) => name === "run_workflow");
  const context = { principal: ada, ...place, signal: new AbortController().signal };
  const started = run?.call({ workflow_id, proposal_id: next.id }, context);
  await expect(started).rejects.toMatchObject({ code: "CONFLICT", message: expect.stringContaining("was accepted") });
});

test("proposals that wait are sent together up to a size, the newest in any case", async () => {
  const large = (count: number): Operation[] =>
    Array.from({ length: count }, (_, n) => n).flatMap((n): Operation[] => [
      { op: "add_node", node: { id: `out-${n}`, type: "outputNode", data: { label: `Out ${n}`, value: "x".repeat(190_000) } } },
      { op: "connect", source: "start", target: `out-${n}` },
    ]);
  const { workflow_id, more } = await begin(ada, large(8));
  const elsewhere = async (operations: Operation[]) => {
    const thread = await db().assistantThread.create({ data: { project_id: ada.project.id, user_id: ada.user.id } });
    const message = await db().assistantMessage.create({ data: { thread_id: thread.id, content: "More", mode: "build" } });
    return propose(ada, { thread_id: thread.id, message_id: message.id }, { workflow_id, summary: "More", operations });
  };
  const second = await elsewhere(SPLIT);
  const third = await elsewhere(large(4));
  const ids = async () => (await openProposals(ada, { workflow_id })).items.map(({ id }) => id);
  expect(await ids()).toEqual([third.id, second.id]);
  const newest = await more(large(11));
  expect(await ids()).toEqual([newest.id]);
});

test("what would stop a run is told apart: what the proposal brings, and what its draft has already", async () => {
  const { more, place } = await begin();
  const { workflow_id } = await createBroken();
  const proposal = await propose(ada, place, {
    workflow_id,
    summary: "One more",
    operations: [
      { op: "add_node", node: { id: "second", type: "agentNode", data: { label: "Second", agent_id: "", input: "x" } } },
      { op: "connect", source: "first", target: "second" },
    ],
  });
  const told = proposal.problems.map(({ node_id, is_new }) => [node_id, is_new]);
  expect(new Set(told.map(String))).toEqual(new Set(["second,true", "first,false"]));
  expect(told.findIndex(([, is_new]) => !is_new)).toBeGreaterThan(told.findLastIndex(([, is_new]) => is_new));
  expect((await eventsOf(place.thread_id)).at(-1)).toMatchObject({ type: "proposal", problems: proposal.problems });
  expect((await more(SPLIT)).problems).toEqual([]);
});

test("a draft that was taken back to the saved graph has nothing of the assistant's any more", async () => {
  const { workflow_id, proposal } = await begin();
  await page.call("POST", `/proposals/${proposal.id}/accept`);
  await saveDraft(ada, { workflow_id, ...graph, revision: 2 });
  await updateWorkflow(ada, { workflow_id, nodes: [START, { ...END, position: { x: 400, y: 0 } }], edges: graph.edges });
  expect((await getVersion(ada, { workflow_id, version: 2 })).by).toBeNull();
});

test("what others have changed since is kept; what both changed is a conflict that says what, and can be left out", async () => {
  const { workflow_id, place, proposal, more } = await begin();
  await saveDraft(ada, { workflow_id, ...graph, nodes: [{ ...START, data: { ...START.data, label: "Begin" } }, END], revision: 1 });
  const { draft } = await page.call("POST", `/proposals/${proposal.id}/accept`);
  expect(draft.nodes.map((node: typeof START) => node.data.label)).toEqual(["Begin", "End", "Check"]);

  const next = await more([
    { op: "update_node", id: "end", data: { value: "Theirs" } },
    { op: "update_node", id: "check", data: { condition: "True" } },
  ]);
  const nodes = draft.nodes.map((node: typeof END) => (node.id === "end" ? { ...node, data: { ...node.data, value: "Mine" } } : node));
  await saveDraft(ada, { workflow_id, nodes, edges: draft.edges, revision: draft.revision });
  const refused = await page.ask("POST", `/proposals/${next.id}/accept`);
  expect(refused).toMatchObject({ status: 409, data: { error_code: "CONFLICT", errors: [{ path: "nodes.end" }] } });
  expect(refused.data.detail).toContain("both changed “End” (value)");
  expect(await page.call("GET", `/proposals/${next.id}`)).toMatchObject({ status: "conflict" });
  expect((await eventsOf(place.thread_id)).at(-1)).toMatchObject({ type: "decided", id: next.id, outcome: "conflict" });
  const rest = await page.call("POST", `/proposals/${next.id}/accept`, { leave_out: ["end"] });
  expect(rest).toMatchObject({ status: "accepted" });
  expect(rest.draft.nodes.map((node: typeof END) => node.data)).toMatchObject([{}, { value: "Mine" }, { condition: "True" }]);
});

test("without one of its nodes the rest is taken, unless that cannot stand alone", async () => {
  const { workflow_id, proposal } = await begin();
  await page.call("POST", `/proposals/${proposal.id}/accept`, { leave_out: ["check"] });
  expect(await draftOf(workflow_id)).toMatchObject({ nodes: [START, { id: "end", data: END.data }], edges: graph.edges });
  const swap: Operation[] = [
    { op: "remove_node", id: "start" },
    { op: "add_node", node: { id: "form", type: "triggerNode", data: { label: "Form", kind: "manual" } } },
    { op: "connect", source: "form", target: "end" },
  ];
  const other = await begin(ada, swap);
  const refused = await page.ask("POST", `/proposals/${other.proposal.id}/accept`, { leave_out: ["form"] });
  expect(refused).toMatchObject({ status: 422, data: { detail: expect.stringContaining("The workflow has no trigger") } });
  expect(await draftOf(other.workflow_id)).toMatchObject(graph);
});

test("what is wrong with operations is told to the model, each with its place; secrets that it cannot read are not written over", async () => {
  const { more } = await begin();
  const wrong: [Operation[], RegExp][] = [
    [[{ op: "remove_node", id: "nobody" }], /operations\.0: There is no node with the id "nobody"/],
    [[{ op: "update_node", id: "end", data: { value: "Bearer ••••" } }], /operations\.0: •••• stands for a secret/],
    [
      [{ op: "update_node", id: "start", data: { kind: "schedule", cron_expression: "* * * * *" } }],
      /workflow: Node "start" \(Start\): .*5 minutes/,
    ],
    [[{ op: "remove_node", id: "start" }], /workflow: The workflow has no trigger/],
  ];
  for (const [operations, message] of wrong)
    await expect(more(operations)).rejects.toMatchObject({ code: "VALIDATION_ERROR", message: expect.stringMatching(message) });
});

test("a new proposal of a thread takes the place of its older one; it is nobody else's, and needs an editor", async () => {
  const { workflow_id, proposal, more } = await begin();
  const second = await more([{ op: "update_node", id: "end", data: { format: "json" } }]);
  expect((await openProposals(ada, { workflow_id })).items.map(({ id }) => id)).toEqual([second.id]);
  expect(await page.call("GET", `/proposals/${proposal.id}`)).toMatchObject({ status: "rejected" });
  expect(await page.call("POST", `/proposals/${second.id}/reject`)).toMatchObject({ status: "rejected" });

  const bob = await database.newAdmin();
  await addMember(ada, bob.user, "viewer");
  const viewer = { ...bob, project: ada.project, role: "viewer" as const };
  await expect(begin(viewer)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  const own = await bridgeOf(viewer);
  expect((await own.ask("GET", `/proposals/${second.id}`)).status).toBe(404);
  expect((await own.ask("POST", `/proposals/${second.id}/accept`)).status).toBe(403);
  const elsewhere = await bridgeOf(await database.newAdmin());
  expect((await elsewhere.ask("POST", `/proposals/${second.id}/accept`)).status).toBe(404);
});

test("a proposal with a node of more than 10,000 keys and list items is refused", async () => {
  const { more, workflow_id, proposal } = await begin();
  const parameter = { name: "rows", label: "Rows", type: "array", default: Array.from({ length: 10_001 }, () => 1) };

  const refused = more([{ op: "update_node", id: "start", data: { kind: "params", parameters: [parameter] } }]);

  await expect(refused).rejects.toThrow("More than 10,000 keys and list items in one node");
  expect((await openProposals(ada, { workflow_id })).items.map(({ id }) => id)).toEqual([proposal.id]);
});
