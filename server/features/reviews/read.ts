import { Prisma } from "#prisma/generated/client.ts";
import { budgetQuestion } from "#server/features/budgets/waits.ts";
import {
  assigneeNames,
  type Counted,
  countedAs,
  mayDecide,
  type StartersOf,
  startersOf,
  termsOf,
} from "#server/features/reviews/rights.ts";
import type { LinkedReview, ListReviewsInput, Review, ReviewSummary } from "#server/features/reviews/schema.ts";
import { accountsOfMaker } from "#server/platform/auth/key-makers.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import type { DeferredTexts } from "#server/platform/deferred-texts.ts";
import { notFound } from "#server/platform/errors.ts";
import { recipientsOf } from "#server/platform/mail/recipients.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import { voterOf } from "#server/runs/store/review-votes.ts";
import { attachedHandles, countReviews, findReview, findReviews, type ReviewRow, textBeginnings } from "#server/runs/store/reviews.ts";
import { deciderDto, verdictOf, voteDto } from "#server/runs/waits/review.ts";
import type { Page } from "#server/shared/primitives-schema.ts";
import { lastInstant } from "#server/shared/time-input.ts";
import { isRejecting } from "#server/workflow/nodes/review-choices.ts";
import type { Assignee } from "#server/workflow/nodes/review-terms.ts";

/** What a review asks and how it stands, as everybody sees it who may. @param attached ways out of its node to which something is attached */
export function questionDto(row: ReviewRow, attached: readonly string[]): Omit<LinkedReview, "own_choice"> {
  const { label, title, description, display_value, deadline, votes } = row;
  const { reviewer, via, decided_at } = deciderDto(row);
  const { editable, choices, quorum } = termsOf(row);
  return {
    ...{ label, title, description, display_value, workflow_name: row.execution.workflow.name },
    ...{ text: row.text, editable, quorum },
    choices: choices.map((choice) => ({
      ...choice,
      ends_run: row.reason === "review" && isRejecting(choice) && !attached.includes(choice.id),
    })),
    votes: votes.map(voteDto),
    ...verdictOf(row),
    ...{ reviewer, via, due_at: deadline?.toISOString() ?? null, decided_at },
  };
}

/** What several reviews of a project are shown with, gathered once. */
interface Beside {
  principal: ProjectPrincipal;
  counted: Counted | null;
  starters: StartersOf;
  attached: ReadonlyMap<string, readonly string[]>;
  nameOf(assignee: Assignee): string;
  recipientsOf(row: AddressedRow): Review["recipients"];
}

type AddressedRow = Pick<ReviewRow, "terms" | "notification_email">;
type BesideRow = AddressedRow & Pick<ReviewRow, "id"> & { execution: { started_by_id: string | null } };

async function besides(principal: ProjectPrincipal, rows: readonly BesideRow[]): Promise<Beside> {
  const [counted, starters, attached, nameOf, addressed] = await Promise.all([
    countedAs(principal),
    startersOf(rows.map(({ execution }) => execution.started_by_id)),
    attachedHandles(rows.map(({ id }) => id)),
    assigneeNames(
      principal.project.id,
      rows.flatMap((row) => termsOf(row).assignees),
    ),
    recipientsShown(principal.project.id, rows),
  ]);
  return { principal, counted, starters, attached, nameOf, recipientsOf: addressed };
}

const peopleIn = (row: AddressedRow): string[] => termsOf(row).assignees.flatMap(({ kind, value }) => (kind === "user" ? [value] : []));

/** Addresses to which reviews are sent, and the state of each. */
async function recipientsShown(project_id: string, rows: readonly AddressedRow[]): Promise<Beside["recipientsOf"]> {
  const named = [...new Set(rows.flatMap(peopleIn))];
  const people = named.length
    ? await db().user.findMany({
        where: {
          memberships: { some: { project_id } },
          OR: [{ id: { in: named.filter(isUuid) } }, { email: { in: named.map((value) => value.toLowerCase()) } }],
        },
        select: { id: true, email: true },
      })
    : [];
  const addressesOf = (row: AddressedRow) => {
    const values = peopleIn(row);
    const members = people.filter(({ id, email }) => values.some((value) => value === id || value.toLowerCase() === email));
    return [...new Set([...(row.notification_email ? [row.notification_email.toLowerCase()] : []), ...members.map(({ email }) => email)])];
  };
  const known = await recipientsOf(project_id, [...new Set(rows.flatMap(addressesOf))]);
  const states = new Map(known.map(({ address, state }) => [address, state]));
  return (row) => addressesOf(row).map((email) => ({ email, state: states.get(email) ?? "open" }));
}

/** A review as the members of its project see it. */
function reviewDto(row: ReviewRow, { principal, counted, starters, attached, nameOf, ...beside }: Beside): Review {
  const terms = termsOf(row);
  const linked = questionDto(row, attached.get(row.id) ?? []);
  return {
    id: row.id,
    kind: row.reason === "budget" ? "budget" : "review",
    execution_id: row.execution_id,
    workflow_id: row.execution.workflow_id,
    node_id: row.node_id,
    iteration: row.iteration || null,
    ...linked,
    role: row.reviewer_role,
    rejection_continues: !linked.choices.some(({ ends_run }) => ends_run),
    assignees: terms.assignees.map((assignee) => ({ ...assignee, name: nameOf(assignee) })),
    recipients: beside.recipientsOf(row),
    may_decide: mayDecide(terms, starters(row.execution.started_by_id), { ...principal, counted }),
    budget: null,
    created_at: row.created_at.toISOString(),
  };
}

const STATES = { waiting: { in: ["waiting"] }, decided: { in: ["resolved", "expired"] } } as const satisfies Record<
  string,
  Prisma.EnumWaitStatusFilter
>;

/** Reviews that name somebody, or his or her role. */
const namesMe = ({ user, role }: ProjectPrincipal): Prisma.WaitWhereInput => ({
  OR: [
    { kind: "user", value: user.id },
    { kind: "user", value: user.email },
    { kind: "role", value: role },
  ].map((assignee) => ({ terms: { path: ["assignees"], array_contains: [assignee] } })),
});

const ORDERS = {
  newest: [{ id: "desc" }],
  due: [{ deadline: { sort: "asc", nulls: "last" } }, { id: "asc" }],
} as const satisfies Record<NonNullable<ListReviewsInput["sort"]>, Prisma.WaitOrderByWithRelationInput[]>;

/** The project's reviews. Of a long text only the beginning is read. */
export async function listReviews(principal: ProjectPrincipal, input: ListReviewsInput): Promise<Page<ReviewSummary>> {
  const { status, execution_id, workflow_id, assigned_to, due_before, sort = "newest" } = input;
  // An execution or a workflow that cannot exist has none.
  if (![execution_id, workflow_id].every((id) => id === undefined || isUuid(id)))
    return { items: [], total: 0, page: input.page, per_page: input.per_page };
  const where: Prisma.WaitWhereInput = {
    project_id: principal.project.id,
    ...(status && { status: STATES[status] }),
    ...(execution_id !== undefined && { execution_id }),
    ...(workflow_id !== undefined && { execution: { workflow_id } }),
    ...(assigned_to && namesMe(principal)),
    ...(due_before !== undefined && { deadline: { lt: lastInstant(due_before) } }),
  };
  const [total, rows] = await Promise.all([countReviews(where), findReviews(where, { orderBy: [...ORDERS[sort]], ...pageWindow(input) })]);
  const [beside, texts] = await Promise.all([besides(principal, rows), textBeginnings(rows.map(({ id }) => id))]);
  // One whose run was deleted between the two reads has no texts any more.
  const listed = rows.flatMap((row) => {
    const text = texts.get(row.id);
    return text ? [{ ...row, ...text }] : [];
  });
  return paged(input, [total, listed], (row) => ({ ...reviewDto(row, beside), truncated: row.truncated }));
}

/** One review. @param texts takes the long texts out. @throws AppError NOT_FOUND */
export async function getReview(principal: ProjectPrincipal, { review_id }: { review_id: string }, texts?: DeferredTexts): Promise<Review> {
  if (!isUuid(review_id)) throw notFound("review");
  const row = await findReview({ id: review_id, project_id: principal.project.id }, texts);
  if (!row) throw notFound("review");
  const review = reviewDto(row, await besides(principal, [row]));
  return row.reason === "budget" ? { ...review, budget: await budgetQuestion(row.id, principal.project.name) } : review;
}

/** How many reviews of the project wait for an answer of whoever asks, who may give it and has not. */
export async function countWaitingReviews(principal: ProjectPrincipal): Promise<{ count: number }> {
  const { user, role, project } = principal;
  if (role === "viewer") return { count: 0 };
  const hasNoTerms: Prisma.WaitWhereInput = { terms: { equals: Prisma.AnyNull } };
  const isAsked: Prisma.WaitWhereInput = { OR: [hasNoTerms, { terms: { path: ["assignees"], equals: [] } }, namesMe(principal)] };
  const own = [user.id, ...(await accountsOfMaker(user.id))];
  const isAllowed: Prisma.WaitWhereInput = {
    OR: [
      hasNoTerms,
      { NOT: { terms: { path: ["starter_may_decide"], equals: false } } },
      { execution: { OR: [{ started_by_id: null }, { started_by_id: { notIn: own } }] } },
    ],
  };
  const count = await countReviews({
    project_id: project.id,
    status: "waiting",
    AND: [isAsked, isAllowed],
    votes: { none: { voter: voterOf(user) } },
  });
  return { count };
}
