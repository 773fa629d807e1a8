import { beforeEach, expect, test } from "vitest";
import { approveExecution } from "#server/features/reviews/decide.ts";
import { decideByLink, getLinkedReview, readReviewToken, reviewToken } from "#server/features/reviews/link.ts";
import { getReview, listReviews } from "#server/features/reviews/read.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { sweep } from "#server/platform/db/sweep.ts";
import { cancelExecution } from "#server/runs/use-cases/cancel-execution.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { getExecutionLogs } from "#server/runs/use-cases/get-execution-logs.ts";
import { executionSweep } from "#server/runs/use-cases/sweep-executions.ts";
import { reviewSweep, waitSweep } from "#server/runs/waits/sweep-waits.ts";
import type { Role } from "#server/shared/primitives-schema.ts";
import { collectEvents, inSeconds, newPausedRun, openReview, reviewRow, type SentEvent } from "#server/testing/reviews.ts";
import { testDatabase } from "#server/testing/test-database.ts";
import { testKeyAuth } from "#server/testing/test-key-auth.ts";
import { PREVIEW_CHARACTERS } from "#server/workflow/output-size.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
let execution_id: string;
let sent: SentEvent[];

beforeEach(async () => {
  admin = await database.newAdmin();
  execution_id = await newPausedRun(admin);
  sent = collectEvents();
  await pool().query("UPDATE waits SET taken_at = now(), notified_at = now()"); // of earlier tests
});

const wakes = () => sent.filter(({ name }) => name === "execution/wake");

test("a place in a loop at which nothing waits is said to be that, not that nothing waits", async () => {
  const wrong = approveExecution(admin, { execution_id, decision: "approved", iteration: "9" });
  await expect(wrong).rejects.toMatchObject({ code: "CONFLICT", message: expect.stringContaining("does not wait for that review.") });
});

test("of two who decide at the same moment one wins, and the other learns who, what and when", async () => {
  const { id } = await openReview(execution_id, "a");
  const bob = { ...admin, user: { ...(await database.newAdmin()).user, name: "Bob" } };
  const results = await Promise.allSettled([
    approveExecution(admin, { execution_id, decision: "approved", comment: "fine" }),
    approveExecution(bob, { execution_id, decision: "rejected" }),
  ]);
  const lost = results.find((result) => result.status === "rejected");
  expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
  const row = await reviewRow(id);
  const winner = row.status === "approved" ? admin.user : bob.user;
  expect(row).toMatchObject({ reviewer_id: winner.id, reviewer_email: winner.email, reviewer_role: "admin", via: "ui" });
  expect(lost?.reason).toMatchObject({ code: "CONFLICT" });
  const when = row.decided_at?.toISOString().slice(0, 16).replace("T", " ");
  expect(lost?.reason.message).toBe(`${winner.name} (${winner.email}) has already ${row.status} the review “Check a” on ${when} UTC.`);
  expect(await db().auditEntry.count({ where: { resource_id: id } })).toBe(1);
  expect(wakes()).toEqual([expect.objectContaining({ id: `${id}-decided`, data: { execution_id } })]);
});

test("the log says of each review who decided, as what, which way and when, by a mailed link too", async () => {
  const visits = ["a", "b", "t"].map((node_id) => ({ execution_id, node_id, attempt: 1, status: "complete" as const }));
  await db().nodeRun.createMany({ data: visits });
  await openReview(execution_id, "a");
  const { id } = await openReview(execution_id, "b", { notification_email: "ann@example.com" });
  const decidersOf = async () => {
    const { items } = await getExecutionLogs(admin, { execution_id });
    return Object.fromEntries(items.map(({ node_id, reviewer, role, via, decided_at }) => [node_id, { reviewer, role, via, decided_at }]));
  };
  const nobody = { reviewer: null, role: null, via: null, decided_at: null };
  expect(await decidersOf()).toEqual({ t: {}, a: nobody, b: nobody });
  await approveExecution(admin, { execution_id, node_id: "a", decision: "approved" });
  await decideByLink({ token: reviewToken(id, inSeconds(60)), decision: "rejected" });
  const ann = { id: null, email: "ann@example.com", name: "" };
  expect(await decidersOf()).toEqual({
    t: {},
    a: { reviewer: admin.user, role: "admin", via: "ui", decided_at: expect.any(String) },
    b: { reviewer: ann, role: null, via: "email", decided_at: expect.any(String) },
  });
});

test("the decision, its comment and its reviewer stand on the execution, and in the audit log", async () => {
  const { id } = await openReview(execution_id, "a");
  const key = { ...admin, auth: testKeyAuth() };
  const execution = await approveExecution(key, { execution_id, decision: "approved", comment: "go\u0000 on" });
  const { user } = admin;
  expect(execution.reviews).toEqual([
    {
      node_id: "a",
      iteration: null,
      label: "Check a",
      status: "approved",
      decision: "approved",
      choice: "approved",
      comment: "go on",
      reviewer: user,
      role: "admin",
      via: "api",
      decided_at: expect.any(String),
      votes: [],
    },
  ]);
  expect(await db().auditEntry.findFirstOrThrow({ where: { resource_id: id } })).toMatchObject({
    action: "review.approve",
    actor_id: user.id,
    via: "platform_key",
    resource_name: "Check a",
  });
});

test("a review that is due counts as rejected, whoever comes first: the person or the sweeper", async () => {
  const late = await openReview(execution_id, "a", { due_at: inSeconds(-1) });
  const swept = await openReview(execution_id, "b", { due_at: inSeconds(-1) });
  const error = await approveExecution(admin, { execution_id, node_id: "a", decision: "approved" }).catch((cause) => cause);
  expect(error).toMatchObject({ code: "CONFLICT", message: expect.stringMatching(/^The review “Check a” timed out/) });
  expect(await reviewRow(late.id)).toMatchObject({
    status: "rejected",
    via: "timeout",
    reviewer_email: null,
    decided_at: expect.any(Date),
  });
  await sweep(waitSweep, reviewSweep, executionSweep);
  expect(await reviewRow(swept.id)).toMatchObject({ status: "rejected", via: "timeout" });
  expect(wakes().map((event) => event.id)).toEqual([`${late.id}-decided`, `${swept.id}-decided`]);
});

test("a decision and the timeout at the same moment: exactly one of them counts", async () => {
  for (let round = 0; round < 10; round++) {
    execution_id = await newPausedRun(admin);
    const { id } = await openReview(execution_id, "a", { due_at: inSeconds(0.005) });
    const [decision] = await Promise.allSettled([
      approveExecution(admin, { execution_id, decision: "approved" }),
      sweep(waitSweep, reviewSweep, executionSweep),
      new Promise((resolve) => setTimeout(resolve, 6)).then(() => sweep(waitSweep, reviewSweep, executionSweep)),
    ]);
    const row = await reviewRow(id);
    const expected = decision?.status === "fulfilled" ? { status: "approved", via: "ui" } : { status: "rejected", via: "timeout" };
    expect(row).toMatchObject(expected);
    expect(await db().auditEntry.count({ where: { resource_id: id } })).toBe(decision?.status === "fulfilled" ? 1 : 0);
  }
});

test("which review is meant: by node, by iteration, or a list of those that wait", async () => {
  await openReview(execution_id, "a", { iteration: "0" });
  await openReview(execution_id, "a", { iteration: "1" });
  const error = (input: object) => approveExecution(admin, { execution_id, decision: "approved", ...input }).catch((cause) => cause);
  expect(await error({})).toMatchObject({ code: "BAD_REQUEST", message: expect.stringContaining("iteration 1"), errors: { length: 2 } });
  expect(await error({ node_id: "a" })).toMatchObject({ code: "BAD_REQUEST" });
  await openReview(execution_id, "b");
  expect(await error({})).toMatchObject({ code: "BAD_REQUEST", message: expect.stringContaining("node_id b (Check b)") });
  expect(await error({ node_id: "c" })).toMatchObject({ code: "VALIDATION_ERROR" });
  expect(await error({ node_id: "t" })).toMatchObject({ code: "VALIDATION_ERROR" });
  expect(await error({ node_id: "a", iteration: "7" })).toMatchObject({ code: "CONFLICT" });
  const execution = await approveExecution(admin, { execution_id, decision: "approved", node_id: "a", iteration: "1" });
  expect(execution.reviews.map(({ decision }) => decision)).toEqual([null, "approved", null]);
  await approveExecution(admin, { execution_id, decision: "rejected", node_id: "b" });
  await approveExecution(admin, { execution_id, decision: "approved" });
  expect(await error({ node_id: "b" })).toMatchObject({
    code: "CONFLICT",
    message: expect.stringContaining("rejected the review “Check b”"),
  });
});

test("takes the iteration of a review as an integer", async () => {
  await openReview(execution_id, "a", { iteration: "0" });
  await openReview(execution_id, "a", { iteration: "1" });

  const { reviews } = await approveExecution(admin, { execution_id, decision: "approved", node_id: "a", iteration: 1 });

  expect(reviews.map(({ iteration, status }) => [iteration, status])).toEqual([
    ["0", "waiting"],
    ["1", "approved"],
  ]);
});

test("answers the last decision with a run that is running", async () => {
  await openReview(execution_id, "a");
  await openReview(execution_id, "b");

  const first = await approveExecution(admin, { execution_id, decision: "approved", node_id: "a" });
  const last = await approveExecution(admin, { execution_id, decision: "approved", node_id: "b" });

  expect([first.status, last.status]).toEqual(["paused", "running"]);
});

test("lists each vote of a review that needs several approvals", async () => {
  const bob = { ...admin, user: { ...(await database.newAdmin()).user, name: "Bob" } };
  await openReview(execution_id, "a", { terms: { quorum: 3 } });

  await approveExecution(admin, { execution_id, decision: "approved", comment: "fine" });
  const { reviews } = await approveExecution(bob, { execution_id, decision: "approved" });

  const vote = { choice: "approved", via: "ui", voted_at: expect.any(String) };
  expect(reviews).toMatchObject([
    { status: "waiting", decided_at: null, votes: [{ ...vote, comment: "fine", reviewer: admin.user }, vote] },
  ]);
});

test("gives a withdrawn review no time of decision", async () => {
  await openReview(execution_id, "a");

  await cancelExecution(admin, { execution_id });

  const { reviews } = await getExecution(admin, { execution_id });
  expect(reviews).toMatchObject([{ status: "withdrawn", decision: null, decided_at: null }]);
});

test("an execution without a review, of another project or unknown", async () => {
  const approve = (who: ProjectPrincipal, id: string) => approveExecution(who, { execution_id: id, decision: "approved" });
  await expect(approve(admin, execution_id)).rejects.toMatchObject({ code: "CONFLICT", message: expect.stringContaining("does not wait") });
  await openReview(execution_id, "a");
  await expect(approve(await database.newAdmin(), execution_id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(approve(admin, "nonsense")).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a cancelled run withdraws its reviews, and tells of the rows of loops with their place", async () => {
  const { id } = await openReview(execution_id, "a", { iteration: "2" });
  const node_run = { execution_id, started_at: new Date(), status: "waiting" as const };
  await db().nodeRun.create({ data: { ...node_run, node_id: "a", iteration: "2" } });
  await db().nodeRun.create({ data: { ...node_run, node_id: "a", iteration: "1", status: "complete" } });
  await cancelExecution(admin, { execution_id });
  const events = await db().executionEvent.findMany({ where: { execution_id, type: "node_skipped" }, orderBy: { seq: "asc" } });
  expect(events.map(({ node_id, data }) => [node_id, (data as { iteration?: string }).iteration])).toEqual([
    ["a", "2"],
    ["t", undefined],
    ["b", undefined],
  ]);
  const rows = await db().nodeRun.findMany({ where: { execution_id }, orderBy: { iteration: "asc" } });
  expect(rows.map(({ status }) => status)).toEqual(["complete", "skipped"]);
  expect(rows[1]).toMatchObject({ completed_at: expect.any(Date), duration_ms: expect.any(Number) });
  expect(await reviewRow(id)).toMatchObject({ status: "withdrawn" });
  for (const node_id of ["a", undefined])
    await expect(approveExecution(admin, { execution_id, decision: "approved", ...(node_id && { node_id }) })).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining("withdrawn"),
    });
});

test("a run that ended takes no decision any more, even where its review was left waiting", async () => {
  const { id } = await openReview(execution_id, "a");
  await db().execution.update({ where: { id: execution_id }, data: { status: "failed" } });
  await expect(approveExecution(admin, { execution_id, decision: "approved" })).rejects.toMatchObject({
    code: "CONFLICT",
    message: "This execution has already ended: it is failed.",
  });
  expect((await reviewRow(id)).status).toBe("waiting");
});

test("a link decides its review once, in the name of the address that it was sent to", async () => {
  const { id } = await openReview(execution_id, "a", { notification_email: "Pat@example.com" });
  const token = reviewToken(id, inSeconds(60));
  expect(await getLinkedReview({ token })).toMatchObject({ title: "Good?", display_value: "Text", status: "waiting", reviewer: null });
  const reviewer = { id: null, email: "Pat@example.com", name: "" };
  expect(await decideByLink({ token, decision: "rejected", comment: "no" })).toMatchObject({ status: "rejected", reviewer, via: "email" });
  await expect(decideByLink({ token, decision: "approved" })).rejects.toMatchObject({
    code: "CONFLICT",
    message: expect.stringMatching(/^Pat@example.com has already rejected/),
  });
  expect(await getLinkedReview({ token })).toMatchObject({ status: "rejected", reviewer });
  expect((await getExecution(admin, { execution_id })).reviews[0]).toMatchObject({ reviewer, role: null, via: "email" });
  expect(await db().auditEntry.findFirstOrThrow({ where: { resource_id: id } })).toMatchObject({ actor_id: null, via: "email" });
});

test.each(["viewer", "editor"] as Role[])("a link that was sent to a member (%s) decides in that member's name", async (role) => {
  const { user } = await database.newAdmin();
  await db().membership.create({ data: { project_id: admin.project.id, user_id: user.id, role } });
  const { id } = await openReview(execution_id, "a", { notification_email: user.email.toUpperCase() });
  await decideByLink({ token: reviewToken(id, inSeconds(60)), decision: "approved" });
  expect(await reviewRow(id)).toMatchObject({ reviewer_id: user.id, reviewer_name: user.name, reviewer_role: role, via: "email" });
});

test("a token that was altered, made up or has expired shows nothing", async () => {
  const { id } = await openReview(execution_id, "a");
  const token = reviewToken(id, inSeconds(60));
  expect(readReviewToken(token)).toEqual({ review_id: id, expires_at: expect.any(Date) });
  const bytes = Buffer.from(token, "base64url");
  for (const at of bytes.keys()) {
    const altered = Buffer.from(bytes);
    altered[at] = (altered[at] ?? 0) ^ 1;
    expect(readReviewToken(altered.toString("base64url")), `byte ${at}`).toBeNull();
  }
  for (const wrong of ["", "x", token.slice(0, -4), `${token}AAAA`]) expect(readReviewToken(wrong)).toBeNull();
  const expired = reviewToken(id, inSeconds(-5));
  await expect(getLinkedReview({ token: expired })).rejects.toMatchObject({
    code: "NOT_FOUND",
    message: expect.stringContaining("expired"),
  });
  await expect(decideByLink({ token: expired, decision: "approved" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await approveExecution(admin, { execution_id, decision: "approved" });
  await expect(getLinkedReview({ token: expired })).rejects.toMatchObject({ message: expect.stringContaining("has already approved") });
});

test("lists: newest first, by state, and of the project only", async () => {
  const [a, b] = [await openReview(execution_id, "a"), await openReview(execution_id, "b")];
  await approveExecution(admin, { execution_id, node_id: "a", decision: "approved" });
  const ids = async (input: { status?: "waiting" | "decided"; execution_id?: string }, who = admin) =>
    (await listReviews(who, { page: 1, per_page: 50, ...input })).items.map(({ id }) => id);
  expect(await ids({})).toEqual([b.id, a.id]);
  expect(await ids({ status: "waiting" })).toEqual([b.id]);
  expect(await ids({ status: "decided" })).toEqual([a.id]);
  expect(await ids({}, await database.newAdmin())).toEqual([]);
  const other = await openReview(await newPausedRun(admin), "a");
  expect(await ids({})).toEqual([other.id, b.id, a.id]);
  expect(await ids({ execution_id })).toEqual([b.id, a.id]);
  expect(await ids({ execution_id: "nonsense" })).toEqual([]);
});

test("a list says that a text was cut from the first character that it leaves out", async () => {
  const fits = "🧵".repeat(PREVIEW_CHARACTERS);
  for (const [iteration, fields] of [{}, { title: `${fits}.` }, { description: `${fits}.` }, { display_value: `${fits}.` }].entries())
    await openReview(execution_id, "a", { iteration: `${iteration}`, title: fits, description: fits, display_value: fits, ...fields });
  const { items } = await listReviews(admin, { page: 1, per_page: 50, execution_id });
  expect(items.map(({ truncated }) => truncated)).toEqual([true, true, true, false]); // newest first
  for (const { title, description, display_value } of items) expect([title, description, display_value]).toEqual([fits, fits, fits]);
  const { display_value } = await getReview(admin, { review_id: items[0]?.id ?? "" });
  expect(display_value).toBe(`${fits}.`);
});

test("a review says whether anything follows its rejection", async () => {
  const node = (id: string, type: string) => ({ id, type, position: { x: 0, y: 0 }, data: { label: id } });
  const nodes = [node("t", "triggerNode"), node("a", "humanLoopNode"), node("b", "humanLoopNode"), node("o", "outputNode")];
  const edge = (source: string, target: string, sourceHandle?: string) => ({
    id: `${source}${target}`,
    source,
    target,
    ...(sourceHandle && { sourceHandle }),
  });
  const graph = { nodes, edges: [edge("t", "a"), edge("t", "b"), edge("a", "o", "rejected"), edge("b", "o", "approved")] };
  const { snapshot_id } = await db().execution.findUniqueOrThrow({ where: { id: execution_id } });
  await db().workflowSnapshot.update({ where: { id: snapshot_id }, data: { graph } });
  const [a, b] = [await openReview(execution_id, "a"), await openReview(execution_id, "b")];
  expect((await getReview(admin, { review_id: a.id })).rejection_continues).toBe(true);
  expect((await getReview(admin, { review_id: b.id })).rejection_continues).toBe(false);
});
