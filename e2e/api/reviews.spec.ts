import { readStream } from "#e2e/api/read-stream.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { until } from "#e2e/until.ts";
import { DecidedReviews, Review, ReviewPage } from "#server/features/reviews/schema.ts";
import { Execution } from "#server/runs/schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";

const position = { x: 0, y: 0 };
const manual = { id: "t", type: "triggerNode", position, data: { label: "Start", kind: "manual" } };
const review = (id: string, data = {}) => ({ id, type: "humanLoopNode", position, data: { label: id, title: `Is ${id} good?`, ...data } });
const output = (id: string, value: string) => ({ id, type: "outputNode", position, data: { label: id, value } });
const edge = (source: string, target: string, sourceHandle?: string) => ({
  id: `${source}-${sourceHandle ?? ""}-${target}`,
  source,
  target,
  ...(sourceHandle && { sourceHandle }),
});

/** One review with an Output on each side. */
const twoWays = (data = {}) => ({
  nodes: [
    manual,
    review("Check", data),
    output("Yes", "yes: {{Check.decision}} / {{Check.comment}} / {{Check.output}}"),
    output("No", "no: {{Check.output}}"),
  ],
  edges: [edge("t", "Check"), edge("Check", "Yes", "approved"), edge("Check", "No", "rejected")],
});

const onlyApproved = {
  nodes: [manual, review("Check"), output("Yes", "yes")],
  edges: [edge("t", "Check"), edge("Check", "Yes", "approved")],
};

const run = test.extend<{
  /** Starts a run of this graph and waits until it waits for so many reviews. */
  paused(graph: { nodes: object[]; edges: object[] }, reviews?: number): Promise<Execution>;
}>({
  paused: async ({ execute, waiting, workflow }, use) =>
    use(async (graph, reviews) => {
      const flow = await workflow(graph as Parameters<typeof workflow>[0]);
      return waiting(await execute(flow, { input: "the draft" }), reviews);
    }),
});

run("approving with a comment goes on at Approved, and who did it stays on the run", async ({ api, person, paused, finished }) => {
  const waiting = await paused(twoWays({ display_value: "Look: {{trigger.output}}" }));
  expect(waiting.node_results.Check).toMatchObject({ status: "waiting", output: null });
  const { body: list } = await api.get("/reviews?status=waiting", { schema: ReviewPage });
  expect(list.items).toMatchObject([
    {
      execution_id: waiting.id,
      node_id: "Check",
      iteration: null,
      title: "Is Check good?",
      display_value: "Look: the draft",
      status: "waiting",
    },
  ]);
  const decision = { decision: "approved", comment: "nice" };
  const { body: answered } = await api.post(`/executions/${waiting.id}/approve`, decision, { schema: Execution, status: 200 });
  const record = { node_id: "Check", decision: "approved", comment: "nice", reviewer: { email: person.email }, role: "admin", via: "api" };
  expect(answered.reviews).toMatchObject([record]);

  const ended = await finished(waiting.id);
  expect(ended).toMatchObject({ status: "completed", output: "yes: approved / nice / approved: nice", reviews: [record] });
  expect(ended.node_results).toMatchObject({ Check: { status: "complete", output: "approved: nice" }, No: { status: "skipped" } });
  const { body: one } = await api.get(`/reviews/${list.items[0]?.id}`, { schema: Review });
  expect(one).toMatchObject({ status: "approved", comment: "nice", reviewer: { name: "Robin Weaver" } });
  expect((await api.get("/reviews?status=waiting", { schema: ReviewPage })).body.total).toBe(0);
  expect((await api.get("/reviews?status=decided", { schema: ReviewPage })).body.total).toBe(1);

  const events = await readStream(`${process.env.BASE_URL}/api/v1/executions/${waiting.id}/stream?token=${api.key}`);
  const names = events.map(({ event }) => event);
  expect(names.indexOf("execution_paused")).toBeGreaterThan(-1);
  expect(names.indexOf("execution_resumed")).toBeGreaterThan(names.indexOf("execution_paused"));
  expect(events.find(({ event }) => event === "execution_paused")?.data).toMatchObject({
    node_id: "Check",
    display_value: "Look: the draft",
  });
});

run(
  "a list shows the beginning of what a review asks, and the review alone has it whole",
  async ({ api, paused, workflow, execute, waiting }) => {
    const all = "{{trigger.output}}";
    const long = "🧵".repeat(5000);
    const flow = await workflow(twoWays({ title: all, description: all, display_value: all }) as Parameters<typeof workflow>[0]);
    const { id } = await waiting(await execute(flow, { input: long }));
    const { id: short } = await paused(twoWays({ display_value: all }));
    const { body: list } = await api.get("/reviews", { schema: ReviewPage });
    const [last, first] = list.items;
    expect(last).toMatchObject({ execution_id: short, display_value: "the draft", truncated: false });
    const beginning = "🧵".repeat(2000);
    expect(first).toMatchObject({ execution_id: id, title: beginning, description: beginning, display_value: beginning, truncated: true });
    const { body: one } = await api.get(`/reviews/${first?.id}`, { schema: Review });
    expect(one).toMatchObject({ title: long, description: long, display_value: long });
    const one_of_run = await api.get(`/reviews?execution_id=${id}&status=waiting`, { schema: ReviewPage });
    expect(one_of_run.body.items).toEqual([first]);
  },
);

run("rejecting goes on at Rejected", async ({ api, paused, finished }) => {
  const waiting = await paused(twoWays());
  await api.post(`/executions/${waiting.id}/approve`, { decision: "rejected" }, { status: 200 });
  expect(await finished(waiting.id)).toMatchObject({ status: "completed", output: "no: rejected" });
});

run("rejecting with nothing on Rejected ends the run as rejected", async ({ api, paused, finished }) => {
  const waiting = await paused(onlyApproved);
  await api.post(`/executions/${waiting.id}/approve`, { decision: "rejected" }, { status: 200 });
  const ended = await finished(waiting.id);
  expect(ended).toMatchObject({ status: "rejected" });
  expect(ended.node_results.Yes?.status).toBe("skipped");
});

run(
  "deciding again is refused with who decided, while the run goes on and after it",
  async ({ api, person, newUser, paused, finished }) => {
    const waiting = await paused(twoWays());
    const editor = await newUser({ role: "editor" });
    const approve = `/executions/${waiting.id}/approve`;
    const both = await Promise.all([api.post(approve, { decision: "approved" }), editor.api.post(approve, { decision: "rejected" })]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const winner = both[0].status === 200 ? person : editor;
    await finished(waiting.id);
    for (const body of [{ decision: "approved" }, { decision: "rejected", node_id: "Check" }]) {
      const late = await api.post(approve, body, { schema: ErrorBody, status: 409 });
      expect(late.body.detail).toContain(winner.email);
      expect(late.body.detail).toMatch(/has already (approved|rejected) the review “Check” on \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
    }
  },
);

run("with several reviews waiting the node must be named, and each is decided by itself", async ({ api, paused, finished }) => {
  const nodes = [manual, review("One"), review("Two"), output("A", "one {{One.output}}"), output("B", "two {{Two.output}}")];
  const edges = [edge("t", "One"), edge("t", "Two"), edge("One", "A", "approved"), edge("Two", "B", "approved")];
  const waiting = await paused({ nodes, edges }, 2);
  const approve = `/executions/${waiting.id}/approve`;
  const { body } = await api.post(approve, { decision: "approved" }, { schema: ErrorBody, status: 400 });
  for (const part of ["One", "Two", "node_id"]) expect(body.detail).toContain(part);
  await api.post(approve, { decision: "approved", node_id: "nowhere" }, { schema: ErrorBody, status: 422 });
  await api.post(approve, { decision: "approved", node_id: "Two" }, { status: 200 });
  await until(async () => (await api.get(`/executions/${waiting.id}`, { schema: Execution })).body.node_results.B?.status === "complete");
  await api.post(approve, { decision: "approved" }, { status: 200 }); // only One is left
  const ended = await finished(waiting.id);
  expect(JSON.parse(ended.output ?? "")).toEqual({ A: "one approved", B: "two approved" });
});

run("a review inside a loop waits at each item, and is named by its place", async ({ api, paused, finished }) => {
  const loop = {
    id: "Each",
    type: "loopNode",
    position,
    data: { label: "Each", items_expression: '["tea", "milk"]', concurrency: 2 },
  };
  const nodes = [manual, loop, review("Check", { display_value: "{{Each.current_item}}" }), output("All", "{{Each.output}}")];
  const edges = [edge("t", "Each"), edge("Each", "Check", "body"), edge("Each", "All", "done")];
  const waiting = await paused({ nodes, edges }, 2);
  const approve = `/executions/${waiting.id}/approve`;
  const { body } = await api.post(approve, { decision: "approved", node_id: "Check" }, { schema: ErrorBody, status: 400 });
  expect(body.detail).toContain("iteration 1");
  await api.post(approve, { decision: "approved", comment: "second", node_id: "Check", iteration: "1" }, { status: 200 });
  await api.post(approve, { decision: "approved", comment: "first" }, { status: 200 });
  const ended = await finished(waiting.id);
  expect(ended.status).toBe("completed");
  expect(JSON.parse(ended.output ?? "")).toEqual(["approved: first", "approved: second"]);
});

run("a review that nobody decides in time counts as rejected", async ({ api, workflow, executed }) => {
  const flow = await workflow(twoWays({ timeout_hours: 1 / 3600 }) as Parameters<typeof workflow>[0]);
  const ended = await executed(flow);
  expect(ended).toMatchObject({ status: "completed", output: "no: rejected" });
  expect(ended.reviews).toMatchObject([{ decision: "rejected", via: "timeout", reviewer: null, decided_at: expect.any(String) }]);
  const late = await api.post(`/executions/${ended.id}/approve`, { decision: "approved" }, { schema: ErrorBody, status: 409 });
  expect(late.body.detail).toContain("timed out");
});

run(
  "a viewer may look at a review but not decide it; an approver decides it, and neither edits nor runs",
  async ({ newUser, newProject, paused, finished }) => {
    const waiting = await paused(twoWays());
    const viewer = await newUser({ role: "viewer" });
    const { body } = await viewer.api.get("/reviews?status=waiting", { schema: ReviewPage });
    expect(body.total).toBe(1);
    await viewer.api.post(`/executions/${waiting.id}/approve`, { decision: "approved" }, { schema: ErrorBody, status: 403 });
    const approver = await newUser({ role: "approver" });
    await approver.api.post(`/workflows/${waiting.workflow_id}/execute`, { input: "" }, { schema: ErrorBody, status: 403 });
    const stranger = await newProject();
    await stranger.api.get(`/reviews/${body.items[0]?.id}`, { schema: ErrorBody, status: 404 });
    await stranger.api.post(`/executions/${waiting.id}/approve`, { decision: "approved" }, { schema: ErrorBody, status: 404 });
    await approver.api.post(`/executions/${waiting.id}/cancel`, {}, { schema: ErrorBody, status: 403 });
    await approver.api.post(`/executions/${waiting.id}/approve`, { decision: "approved" }, { status: 200 });
    expect((await finished(waiting.id)).reviews).toMatchObject([{ decision: "approved", role: "approver" }]);
  },
);

run("two of those who are asked agree on a choice, one with another text, which flows on", async ({ api, newUser, paused, finished }) => {
  const [ann, bob, editor] = [await newUser({ role: "approver" }), await newUser({ role: "approver" }), await newUser({ role: "editor" })];
  const choices = [
    { id: "send", label: "Send" },
    { id: "later", label: "Later" },
    { id: "never", label: "Never", style: "danger" },
  ];
  const asked = { assignees: [{ kind: "role", value: "approver" }], quorum: 2, choices, text: "Dear {{trigger.output}}", editable: true };
  const waiting = await paused({
    nodes: [manual, review("Check", asked), output("Sent", "{{Check.decision}}: {{Check.text}}"), output("Kept", "kept")],
    edges: [edge("t", "Check"), edge("Check", "Sent", "send"), edge("Check", "Kept", "later")],
  });
  const approve = `/executions/${waiting.id}/approve`;
  const { body: refusal } = await editor.api.post(approve, { choice: "send" }, { schema: ErrorBody, status: 403 });
  expect(refusal.detail).toContain("is for approvers");
  await ann.api.post(approve, { choice: "send", text: "Dear all" }, { status: 200 });
  await ann.api.post(approve, { choice: "send" }, { schema: ErrorBody, status: 409 });
  await ann.api.post(approve, { decision: "rejected", choice: "send" }, { schema: ErrorBody, status: 422 });
  const { body: list } = await bob.api.get("/reviews?assigned_to=me&sort=due", { schema: ReviewPage });
  expect(list.items).toMatchObject([
    {
      kind: "review",
      status: "waiting",
      text: "Dear all",
      quorum: 2,
      votes: [{ choice: "send" }],
      assignees: [{ name: "approvers" }],
      may_decide: true,
    },
  ]);
  const answers = [{ review_id: list.items[0]?.id, choice: "send" }];
  const { body: decided } = await bob.api.post("/reviews/decide", { answers }, { schema: DecidedReviews, status: 200 });
  expect(decided.results).toMatchObject([{ error: null, review: { status: "approved", choice: "send" } }]);
  expect(await finished(waiting.id)).toMatchObject({
    status: "completed",
    output: "send: Dear all",
    reviews: [{ decision: "approved", choice: "send" }],
  });
  expect((await api.get("/reviews?assigned_to=me", { schema: ReviewPage })).body.total).toBe(0);
});

run("a cancelled run takes no decision", async ({ api, paused }) => {
  const waiting = await paused(twoWays());
  const { body: cancelled } = await api.post(`/executions/${waiting.id}/cancel`, {}, { schema: Execution, status: 200 });
  expect(cancelled.node_results).toMatchObject({ Check: { status: "skipped" }, Yes: { status: "skipped" } });
  const { body } = await api.post(`/executions/${waiting.id}/approve`, { decision: "approved" }, { schema: ErrorBody, status: 409 });
  expect(body.detail).toContain("withdrawn");
  expect((await api.get("/reviews?status=waiting", { schema: ReviewPage })).body.total).toBe(0);
});

run("bodies that say too little, too much or nonsense", async ({ api, paused }) => {
  const waiting = await paused(twoWays());
  const refused = async (body: unknown) =>
    (await api.post(`/executions/${waiting.id}/approve`, body, { schema: ErrorBody, status: 422 })).body.errors?.[0]?.path;
  expect(await refused({})).toBe("decision");
  expect(await refused({ decision: "maybe" })).toBe("decision");
  expect(await refused({ decision: "approved", comment: "x".repeat(10_001) })).toBe("comment");
  expect(await refused({ decision: "approved", who: "me" })).toBe("who");
  await api.post("/executions/nonsense/approve", { decision: "approved" }, { schema: ErrorBody, status: 404 });
  await api.get("/reviews?status=lost", { schema: ErrorBody, status: 422 });
  expect((await api.get(`/executions/${waiting.id}`, { schema: Execution })).body.status).toBe("paused");
});
