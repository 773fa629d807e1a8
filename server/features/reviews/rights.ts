import type { Prisma, Wait } from "#prisma/generated/client.ts";
import type { ReviewActor } from "#server/features/reviews/decide.ts";
import type { Answer } from "#server/features/reviews/schema.ts";
import { makerOfKey, makersOf } from "#server/platform/auth/key-makers.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, invalidField } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { choiceName, isRejecting } from "#server/workflow/nodes/review-choices.ts";
import { type Assignee, type ReviewChoice, ReviewTerms } from "#server/workflow/nodes/review-terms.ts";

// Who may answer a review, and with what.

/** The terms of a review: those that its node set, or for one of before there were any what they mean. */
export const termsOf = ({ terms }: Pick<Wait, "terms">): ReviewTerms => ReviewTerms.parse(terms ?? {});

interface Member {
  id: string | null;
  email: string;
  role: ReviewActor["role"];
}

/** Whether an assignee means somebody. */
export const isMeant = ({ id, email, role }: Member, { kind, value }: Assignee): boolean =>
  kind === "role" ? value === role : value === id || value.toLowerCase() === email.toLowerCase();

/** Whether somebody is asked, as far as the terms name anybody. */
export const isAsked = ({ assignees }: ReviewTerms, member: Member): boolean =>
  assignees.length === 0 || assignees.some((one) => isMeant(member, one));

/** As whom an answer counts. Without an id: an address that has no account. */
export interface Counted {
  id: string | null;
  email: string;
}

/** A key of a service account counts as the person who made it; null when that is not known. */
export async function countedAs({ user, auth }: Pick<ReviewActor, "user" | "auth">): Promise<Counted | null> {
  const { key_id } = auth;
  if (user.id === null || key_id === undefined) return user;
  const service = await db().user.findFirst({ where: { id: user.id, service_project_id: { not: null } }, select: { id: true } });
  return service ? makerOfKey(key_id) : user;
}

/** The accounts that count as having started a run: whose it is, and of a service account everybody who has made a key of it. */
export type StartersOf = (started_by_id: string | null) => readonly string[];

export async function startersOf(
  started_by_ids: readonly (string | null)[],
  within?: Pick<Prisma.TransactionClient, "serviceKeyMaker">,
): Promise<StartersOf> {
  const makers = await makersOf([...new Set(started_by_ids.flatMap((id) => id ?? []))], within);
  return (id) => (id === null ? [] : [id, ...(makers.get(id) ?? [])]);
}

type Decider = Pick<ReviewActor, "user" | "role" | "isNamed"> & { counted: Counted | null };

/** Why somebody may not decide a review, as the beginning of a sentence; undefined when they may. */
function refusalOf(terms: ReviewTerms, starters: readonly string[], { user, role, isNamed, counted }: Decider): string | undefined {
  const isCounting = !terms.starter_may_decide || terms.quorum > 1;
  if (isCounting && !counted)
    return "The creator of this API key is not recorded, and this review counts people. Create a new key and use it.";
  const isStarter = [user.id, counted?.id].some((id) => id && starters.includes(id));
  if (!terms.starter_may_decide && isStarter)
    return user.id === counted?.id || counted === null
      ? "You started this run, so another person has to decide."
      : "The person who made this API key started this run, so another person has to decide.";
  if (isNamed || isAsked(terms, { ...user, role })) return undefined;
  return "You are not asked here.";
}

/** Whether a member may decide a review; a viewer never may in the app. */
export const mayDecide = (terms: ReviewTerms, starters: readonly string[], member: Omit<Decider, "isNamed">): boolean =>
  member.role !== null && member.role !== "viewer" && refusalOf(terms, starters, member) === undefined;

/** @throws AppError PERMISSION_DENIED that says who may */
export async function assertMayDecide(
  { project_id, label }: Pick<Wait, "project_id" | "label">,
  terms: ReviewTerms,
  started_by_id: string | null,
  decider: Decider,
): Promise<void> {
  const starters = terms.starter_may_decide ? [] : (await startersOf([started_by_id]))(started_by_id);
  const refusal = refusalOf(terms, starters, decider);
  if (refusal === undefined) return;
  const names = await assigneeNames(project_id, terms.assignees);
  const who = terms.assignees.map((one) => names(one)).join(", ");
  throw new AppError(
    "PERMISSION_DENIED",
    `${refusal} The review “${label}” is for ${who || "approvers, editors and admins of the project"}.`,
  );
}

/** Names of people and roles that are asked, for whoever reads: a value that means nobody is told as it is. */
export async function assigneeNames(project_id: string, all: readonly Assignee[]): Promise<(assignee: Assignee) => string> {
  const values = [...new Set(all.flatMap(({ kind, value }) => (kind === "user" ? [value] : [])))];
  const people = values.length
    ? await db().user.findMany({
        where: {
          memberships: { some: { project_id } },
          OR: [{ id: { in: values.filter(isUuid) } }, { email: { in: values.map((value) => value.toLowerCase()) } }],
        },
        select: { id: true, email: true, name: true },
      })
    : [];
  return ({ kind, value }) => {
    if (kind === "role") return `${value}s`;
    const person = people.find(({ id, email }) => id === value || email === value.toLowerCase());
    return person ? person.name || person.email : isUuid(value) ? "a former member" : value;
  };
}

const invalid = (path: string, message: string) => invalidField(path, message, `${path}: ${message}`);

/**
 * The choice that an answer means: the one it names, or else the only one that its decision can mean.
 * @throws AppError VALIDATION_ERROR when there is no such choice, or several
 */
export function choiceMeant({ choices }: Pick<ReviewTerms, "choices">, { decision, choice }: Answer): ReviewChoice {
  const offered = choices.map((one) => `${one.id} (${choiceName(one)})`).join(", ");
  if (choice !== undefined) {
    const named = choices.find(({ id }) => id === choice);
    if (!named) throw invalid("choice", `There is no such choice. Use one of: ${offered}.`);
    if (decision !== undefined && (decision === "rejected") !== isRejecting(named))
      throw invalid("decision", `“${choiceName(named)}” counts as ${isRejecting(named) ? "rejected" : "approved"}. Leave decision out.`);
    return named;
  }
  if (decision === undefined) throw invalid("decision", "Say approved or rejected, or name a choice.");
  const possible = choices.filter((one) => isRejecting(one) === (decision === "rejected"));
  const meant = possible.find(({ id }) => id === decision) ?? possible[0];
  if (meant && (meant.id === decision || possible.length === 1)) return meant;
  throw invalid("choice", `Say which of the choices you mean: ${offered}.`);
}
