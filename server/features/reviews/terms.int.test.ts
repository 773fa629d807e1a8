import { beforeEach, expect, test } from "vitest";
import { removeMember } from "#server/features/projects/members.ts";
import { approveExecution, decideReviews } from "#server/features/reviews/decide.ts";
import { decideByLink, getLinkedReview, reviewToken } from "#server/features/reviews/link.ts";
import { countWaitingReviews, getReview, listReviews } from "#server/features/reviews/read.ts";
import { type Answer, ListReviewsInput } from "#server/features/reviews/schema.ts";
import { createServiceAccount, createServiceKey } from "#server/features/service-accounts/service.ts";
import { graphScope } from "#server/features/workflows/checks.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { principalOf } from "#server/platform/auth/principal-of.ts";
import { db } from "#server/platform/db/client.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { type Role, TimeInput } from "#server/shared/primitives-schema.ts";
import { addMember } from "#server/testing/add-member.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { collectEvents, inSeconds, newPausedRun, openReview, reviewRow } from "#server/testing/reviews.ts";
import { startStoredRun, storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";
import { ReviewTerms } from "#server/workflow/nodes/review-terms.ts";
import { findProblems } from "#server/workflow/problems.ts";
import { Graph } from "#server/workflow/schema.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
let execution_id: string;

beforeEach(async () => {
  admin = await database.newAdmin();
  execution_id = await newPausedRun(admin);
  collectEvents();
});

async function member(role: Role): Promise<ProjectPrincipal> {
  const other = await database.newAdmin();
  await addMember(admin, other.user, role);
  return { ...other, project: admin.project, role };
}

const answer = (who: ProjectPrincipal, body: Answer = { decision: "approved" }) => approveExecution(who, { execution_id, ...body });
const person = ({ user }: ProjectPrincipal) => ({ kind: "user" as const, value: user.id });
const choices = [
  { id: "publish", label: "Publish", style: "primary" as const },
  { id: "revise", label: "Send back", style: "neutral" as const },
  { id: "drop", label: "Drop it", style: "danger" as const },
];

test("only who is asked decides: by id, by address or by exactly the role; everybody else is told who may", async () => {
  const [ann, editor, approver] = [await member("editor"), await member("editor"), await member("approver")];
  const { id } = await openReview(execution_id, "a", {
    terms: { assignees: [person(ann), { kind: "role", value: "approver" }] },
  });
  for (const who of [admin, editor])
    await expect(answer(who)).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
      message: `You are not asked here. The review “Check a” is for ${ann.user.name}, approvers.`,
    });
  expect(await reviewRow(id)).toMatchObject({ status: "waiting" });
  expect((await getReview(admin, { review_id: id })).may_decide).toBe(false);
  expect(await getReview(approver, { review_id: id })).toMatchObject({ may_decide: true, assignees: [{ name: ann.user.name }, {}] });
  await answer(approver);
  expect(await reviewRow(id)).toMatchObject({ status: "approved", reviewer_id: approver.user.id });

  await openReview(execution_id, "b", { terms: { assignees: [{ kind: "user", value: ann.user.email.toUpperCase() }] } });
  await expect(answer(approver)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  await answer(ann);
});

test("whoever started the run does not decide where the node says so, by a link neither", async () => {
  const editor = await member("editor");
  const { id } = await openReview(execution_id, "a", { terms: { starter_may_decide: false }, notification_email: admin.user.email });
  const refused = { code: "PERMISSION_DENIED", message: expect.stringContaining("You started this run") };
  await expect(answer(admin)).rejects.toMatchObject(refused);
  await expect(decideByLink({ token: reviewToken(id, inSeconds(60)), decision: "approved" })).rejects.toMatchObject(refused);
  await answer(editor);
});

test("a quorum counts each person once, whichever way they come, and ends with so many of one choice", async () => {
  const [ann, bob] = [await member("editor"), await member("approver")];
  const { id } = await openReview(execution_id, "a", { terms: { quorum: 2 }, notification_email: ann.user.email });
  expect(await answer(ann, { decision: "approved", comment: "fine" })).toMatchObject({ status: "paused" });
  const twice = { code: "CONFLICT", message: expect.stringContaining("it counts once. 1 of 2 agree so far.") };
  await expect(answer(ann)).rejects.toMatchObject(twice);
  await expect(decideByLink({ token: reviewToken(id, inSeconds(60)), decision: "approved" })).rejects.toMatchObject(twice);
  expect(await getLinkedReview({ token: reviewToken(id, inSeconds(60)) })).toMatchObject({ status: "waiting", own_choice: "approved" });
  expect((await getReview(bob, { review_id: id })).votes).toMatchObject([
    { choice: "approved", comment: "fine", reviewer: { id: ann.user.id } },
  ]);
  await answer(bob);
  expect(await reviewRow(id)).toMatchObject({ status: "approved", reviewer_id: bob.user.id });
  expect(
    (await db().auditEntry.findMany({ where: { resource_id: id }, orderBy: { id: "asc" } })).map(({ detail }) => detail),
  ).toMatchObject([{ decides: false }, { decides: true }]);
});

test("one rejection decides; who changes the mind counts anew; two at the same moment are both counted", async () => {
  const [ann, bob] = [await member("editor"), await member("editor")];
  const { id } = await openReview(execution_id, "a", { terms: { quorum: 3, choices } });
  await answer(ann, { choice: "publish" });
  await answer(ann, { choice: "revise" });
  await Promise.all([answer(bob, { choice: "revise" }), answer(admin, { choice: "revise", comment: "typos" })]);
  expect(await reviewRow(id)).toMatchObject({ status: "approved", outcome: { choice: "revise" } });

  const second = await openReview(execution_id, "b", { terms: { quorum: 3 } });
  await answer(ann);
  await answer(bob, { decision: "rejected", comment: "no" });
  expect(await reviewRow(second.id)).toMatchObject({ status: "rejected", comment: "no", reviewer_id: bob.user.id });
});

test("a changed text flows on, and takes back what others have said of the one before", async () => {
  const [ann, bob] = [await member("editor"), await member("editor")];
  const { id } = await openReview(execution_id, "a", { text: "Dear all", terms: { quorum: 2, editable: true } });
  await answer(ann);
  await answer(bob, { decision: "approved", text: "Dear both" });
  expect(await getReview(ann, { review_id: id })).toMatchObject({
    status: "waiting",
    text: "Dear both",
    votes: [{ reviewer: { id: bob.user.id } }],
  });
  await answer(ann, { decision: "approved", text: "Dear both" });
  expect(await getReview(ann, { review_id: id })).toMatchObject({ status: "approved", text: "Dear both" });

  const fixed = await openReview(execution_id, "b", { text: "As it is" });
  await expect(answer(ann, { decision: "approved", text: "Other" })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  await answer(ann);
  expect((await getReview(ann, { review_id: fixed.id })).text).toBe("As it is");
});

test("an answer names a choice, or is enough where only one can be meant", async () => {
  const { id } = await openReview(execution_id, "a", { terms: { choices } });
  const path = async (body: Answer) => (await answer(admin, body).catch((cause) => cause)).errors?.[0]?.path;
  expect(await path({})).toBe("decision");
  expect(await path({ choice: "approved" })).toBe("choice");
  expect(await path({ decision: "approved" })).toBe("choice"); // two are no rejection
  expect(await path({ decision: "approved", choice: "drop" })).toBe("decision");
  await answer(admin, { decision: "rejected" });
  expect(await reviewRow(id)).toMatchObject({ status: "rejected", outcome: { choice: "drop" } });
  await expect(answer(admin, { choice: "publish" })).rejects.toMatchObject({
    message: expect.stringContaining("has already chosen “Drop it”"),
  });
});

test("a member's own link counts as that member, with the rights of now", async () => {
  const ann = await member("editor");
  const { id } = await openReview(execution_id, "a", { terms: { assignees: [person(ann)], quorum: 2 } });
  const own = reviewToken(id, inSeconds(60), ann.user.id);
  await decideByLink({ token: own, decision: "approved" });
  await expect(answer(ann)).rejects.toMatchObject({ code: "CONFLICT" });
  // The link of somebody who is not asked, and of one who is a member no more.
  await expect(decideByLink({ token: reviewToken(id, inSeconds(60), admin.user.id), decision: "approved" })).rejects.toMatchObject({
    code: "PERMISSION_DENIED",
  });
  const { id: alone } = await openReview(execution_id, "b", { terms: { assignees: [person(ann)] } });
  const read = () => getLinkedReview({ token: reviewToken(alone, inSeconds(60), ann.user.id) });
  expect(await read()).toMatchObject({ status: "waiting" });
  await db().membership.deleteMany({ where: { user_id: ann.user.id, project_id: admin.project.id } });
  await expect(read()).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  await expect(decideByLink({ token: own, decision: "rejected" })).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  expect(await reviewRow(id)).toMatchObject({ status: "waiting" });
});

test("many at once: each counts for itself, and of another project there is nothing", async () => {
  const [a, b] = [
    await openReview(execution_id, "a"),
    await openReview(execution_id, "b", { terms: { assignees: [{ kind: "role", value: "approver" }] } }),
  ];
  const stranger = await database.newAdmin();
  const foreign = await openReview(await newPausedRun(stranger), "a");
  const answers = [a, b, foreign].map(({ id }) => ({ review_id: id, decision: "approved" as const }));
  const { results } = await decideReviews(admin, { answers });
  expect(results).toMatchObject([
    { review_id: a.id, review: { status: "approved" }, error: null },
    { review_id: b.id, review: { status: "waiting" }, error: { error_code: "PERMISSION_DENIED" } },
    { review_id: foreign.id, review: null, error: { error_code: "NOT_FOUND" } },
  ]);
  expect(await reviewRow(foreign.id)).toMatchObject({ status: "waiting" });
});

test("a review that asks people of whom too few can decide is a problem before anything runs", async () => {
  const [ann, viewer] = [await member("editor"), await member("viewer")];
  const problemsWith = async (data: object) => {
    const nodes = [{ id: "r", type: "humanLoopNode", position: { x: 0, y: 0 }, data: { label: "Check", ...data } }];
    const graph = Graph.parse({ nodes, edges: [] });
    return findProblems(graph, await graphScope(admin.project.id, graph)).flatMap(({ field, message }) =>
      field ? [`${field}: ${message}`] : [],
    );
  };
  const assignees = [person(ann), person(viewer)];
  expect(await problemsWith({ assignees })).toEqual([]);
  expect(await problemsWith({ assignees, quorum: 2 })).toEqual([expect.stringMatching(/^assignees: Only 1 of the reviewers can decide/)]);
  expect(await problemsWith({ assignees: [person(viewer)] })).toEqual([
    expect.stringMatching(/^assignees: None of the reviewers can decide/),
  ]);
  const twice = ["ann@example.com", "Ann@example.com"].map((value) => ({ kind: "user", value }));
  expect(await problemsWith({ assignees: twice, quorum: 2 })).toEqual([expect.stringMatching(/^quorum: .*one person is/)]);
  expect(await problemsWith({ assignees, quorum: 3 })).toEqual([expect.stringMatching(/^quorum: /)]);
  expect(await problemsWith({ assignees: [{ kind: "role", value: "owner" }] })).toEqual([expect.stringMatching(/^assignees: "owner"/)]);
  expect(await problemsWith({ remind_hours: 2, timeout_hours: 2 })).toEqual([expect.stringMatching(/^remind_hours: /)]);
  const yes = [
    { id: "a", label: "A" },
    { id: "b", label: "B" },
  ];
  expect(await problemsWith({ choices: yes, timeout_hours: 1 })).toEqual([expect.stringMatching(/^choices: .*danger/)]);
});

test("lists: what is due first, what is for me, what is due soon, of a workflow; the badge leaves out what is for others", async () => {
  const approver = await member("approver");
  const late = await openReview(execution_id, "a", { due_at: inSeconds(7200), terms: { assignees: [person(approver)] } });
  const soon = await openReview(execution_id, "b", { due_at: inSeconds(60) });
  const other = await newPausedRun(admin, "Other");
  const open = await openReview(other, "a", { terms: { assignees: [{ kind: "role", value: "approver" }] } });
  const ids = async (input: object, who = admin) => (await listReviews(who, { page: 1, per_page: 50, ...input })).items.map(({ id }) => id);
  expect(await ids({ sort: "due" })).toEqual([soon.id, late.id, open.id]);
  expect(await ids({ assigned_to: "me", sort: "due" }, approver)).toEqual([late.id, open.id]);
  expect(await ids({ assigned_to: "me" })).toEqual([]);
  expect(ListReviewsInput.safeParse({ due_before: "0000-01-01T00:00:00.000Z" }).success).toBe(false);
  expect(TimeInput.safeParse("0001-01-01T00:00:00+14:00").success).toBe(false);
  expect(await ids({ due_before: inSeconds(600).toISOString() })).toEqual([soon.id]);
  const ann = await member("editor");
  const asked = { assignees: [{ kind: "user", value: ann.user.email.toUpperCase() }] };
  const run = await startStoredRun(admin, graphOf({ nodes: { t: ["triggerNode"], r: ["humanLoopNode", asked] }, edges: ["t>r"] }));
  await claimAndExecute(storedServices(), run, 60);
  expect((await listReviews(ann, { page: 1, per_page: 50, assigned_to: "me" })).items).toMatchObject([{ execution_id: run }]);
  const { workflow_id } = await db().execution.findUniqueOrThrow({ where: { id: other } });
  expect(await ids({ workflow_id })).toEqual([open.id]);
  // Nor does it count what one may not decide, having started the run, or has answered already.
  const started = await newPausedRun(admin, "Started");
  const two = await openReview(started, "a", { terms: ReviewTerms.parse({ starter_may_decide: false, quorum: 2 }) });
  const viewer = await member("viewer");
  const badges = async () => Promise.all([admin, approver, viewer].map(async (who) => (await countWaitingReviews(who)).count));
  expect(await badges()).toEqual([1, 4, 0]);
  await decideReviews(approver, { answers: [{ review_id: two.id, decision: "approved" }] });
  expect(await badges()).toEqual([1, 3, 0]);
});

const byLink = (id: string, body: Answer = { decision: "approved" }) => decideByLink({ token: reviewToken(id, inSeconds(60)), ...body });

test("a vote by a mailed link and one by the account of its address are one vote", async () => {
  const ann = await database.newAdmin();
  const { id } = await openReview(execution_id, "a", { terms: { quorum: 2 }, notification_email: ann.user.email.toUpperCase() });
  await byLink(id);
  await addMember(admin, ann.user, "editor");

  const joined: ProjectPrincipal = { ...ann, project: admin.project, role: "editor" };
  await expect(answer(joined)).rejects.toMatchObject({ code: "CONFLICT", message: expect.stringContaining("1 of 2 agree so far.") });

  expect(await reviewRow(id)).toMatchObject({ status: "waiting" });
  expect(await countWaitingReviews(joined)).toEqual({ count: 0 });
});

/** A key of a service account, as the principal that a request with it has. */
async function serviceKey(maker: ProjectPrincipal): Promise<ProjectPrincipal> {
  const { id: account_id } = await createServiceAccount(maker, { name: "Robot", role: "approver" });
  return keyOf(maker, account_id);
}
async function keyOf(maker: ProjectPrincipal, account_id: string): Promise<ProjectPrincipal> {
  const { key } = await createServiceKey(maker, { account_id, name: "CI" });
  const principal = await principalOf(new Headers({ authorization: `Bearer ${key}` }));
  if (!principal) throw new Error("The key opens nothing.");
  return { ...principal, project: maker.project, role: "approver" };
}

test("a service account and the person who made its key are one of a quorum", async () => {
  const [robot, bob] = [await serviceKey(admin), await member("editor")];
  const { id } = await openReview(execution_id, "a", { terms: { quorum: 2 } });
  await answer(robot);
  const other = await serviceKey(admin);
  for (const who of [admin, other]) await expect(answer(who)).rejects.toMatchObject({ code: "CONFLICT" });
  expect(await reviewRow(id)).toMatchObject({ status: "waiting" });
  await answer(bob);
  expect(await reviewRow(id)).toMatchObject({ status: "approved" });
});

test("a service account does not decide a run that the creator of its key started", async () => {
  const robot = await serviceKey(admin);
  const { id } = await openReview(execution_id, "a", { terms: { starter_may_decide: false } });
  expect((await getReview(robot, { review_id: id })).may_decide).toBe(false);
  const refused = { code: "PERMISSION_DENIED", message: expect.stringContaining("made this API key started this run") };
  await expect(answer(robot)).rejects.toMatchObject(refused);
});

test("the creator of a service key does not decide a run that the account started", async () => {
  const [robot, other] = [await serviceKey(admin), await member("admin")];
  await db().execution.update({ where: { id: execution_id }, data: { started_by_id: robot.user.id } });
  await db().platformKey.deleteMany({ where: { user_id: robot.user.id } });
  const { id } = await openReview(execution_id, "a", { terms: { starter_may_decide: false } });
  expect((await getReview(admin, { review_id: id })).may_decide).toBe(false);
  expect(await countWaitingReviews(admin)).toEqual({ count: 0 });
  await expect(answer(admin)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  await answer(other);
});

test("a key without a recorded creator decides no review that counts people", async () => {
  const robot = await serviceKey(admin);
  await db().serviceKeyMaker.deleteMany({ where: { account_id: robot.user.id } });
  await openReview(execution_id, "a", { terms: { quorum: 2 } });
  await expect(answer(robot)).rejects.toMatchObject({ message: expect.stringContaining("The creator of this API key is not recorded") });
  await openReview(execution_id, "b", {});
  await approveExecution(robot, { execution_id, node_id: "b", decision: "approved" });
});

test("a link to an address decides no run that the account of the address started", async () => {
  const { user } = await database.newAdmin();
  await db().execution.update({ where: { id: execution_id }, data: { started_by_id: user.id } });
  const { id } = await openReview(execution_id, "a", { terms: { starter_may_decide: false }, notification_email: user.email });
  await expect(byLink(id)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
});

test("a removed member cannot decide by a link until they are a member again", async () => {
  const ann = await member("editor");
  const { id } = await openReview(execution_id, "a", { notification_email: ann.user.email.toUpperCase() });
  await removeMember(admin, { project_id: admin.project.id, user_id: ann.user.id });

  await expect(byLink(id)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  await expect(getLinkedReview({ token: reviewToken(id, inSeconds(60)) })).rejects.toMatchObject({ code: "PERMISSION_DENIED" });

  await addMember(admin, ann.user, "viewer");
  await byLink(id);
  expect(await reviewRow(id)).toMatchObject({ status: "approved" });
});
