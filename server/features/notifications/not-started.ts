import type pg from "pg";
import type { Prisma } from "#prisma/generated/client.ts";
import { notify } from "#server/features/notifications/notify.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { utc } from "#server/platform/mail/layout.ts";

// Members are told of workflows that do not start by themselves as they should: a schedule that came too late, and a workflow that
// somebody has disabled.

/** A fire that comes so late has been missed: no two of a schedule are closer, in milliseconds. */
const LATE_MS = 5 * 60_000;

/** A service account reads nothing. */
const PEOPLE = `
  SELECT m.user_id FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.project_id = $1 AND u.service_project_id IS NULL`;

interface Fire {
  project_id: string;
  workflow_id: string;
  workflow_name: string;
  due_at: Date;
  now: Date;
  /** Whether it was due again before now. */
  isRepeated: boolean;
}

/**
 * Tells every member, within a transaction, of a schedule that is fired late because nothing ran when it was due: one notification
 * for a workflow, which says the latest. Does nothing for one that is on time.
 */
export async function tellMissed(client: pg.PoolClient, { project_id, workflow_id, workflow_name, ...fire }: Fire): Promise<void> {
  const { due_at, now, isRepeated } = fire;
  if (now.getTime() - due_at.getTime() < LATE_MS) return;
  const { rows } = await client.query<{ user_id: string }>(PEOPLE, [project_id]);
  const title = isRepeated
    ? `${workflow_name} missed runs: it was due since ${utc(due_at)}, and one is made up for now`
    : `${workflow_name} was due at ${utc(due_at)}, and is late`;
  const notification = {
    project_id,
    kind: "schedule_missed",
    subject_id: workflow_id,
    title,
    link: `/runs?workflow=${workflow_id}`,
  } as const;
  await notify(client, rows, notification, "renew");
}

/**
 * Tells the other members, within a transaction, that somebody has disabled a workflow; once it is enabled again there is nothing to
 * tell any more.
 * @param isMissed whether anything starts it that does not now: its schedule, or calls from outside
 */
export async function tellDisabled(
  tx: Prisma.TransactionClient,
  { project: { id: project_id }, user }: ProjectPrincipal,
  { id: subject_id, name, enabled }: { id: string; name: string; enabled: boolean },
  isMissed: boolean,
): Promise<void> {
  const kind = "workflow_disabled";
  await tx.notification.deleteMany({ where: { subject_id, kind } });
  if (enabled || !isMissed) return;
  const members = await tx.membership.findMany({
    where: { project_id, user_id: { not: user.id }, user: { service_project_id: null } },
    select: { user_id: true },
  });
  const title = `${user.name} disabled ${name}: nothing starts it by itself`;
  await notify(tx, members, { project_id, kind, subject_id, title, link: `/workflows/${subject_id}` });
}
