import type { z } from "zod";
import type { EndedSessions, Session, SessionRef } from "#server/features/security/schema.ts";
import { recordAuditEverywhere } from "#server/platform/audit/audit.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { projectLimit } from "#server/platform/auth/rights.ts";
import { endSessions } from "#server/platform/auth/session.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import type { Page, PageInput } from "#server/shared/primitives-schema.ts";

const currentOf = ({ auth }: Principal): string | undefined => (auth.type === "session" ? auth.session_id : undefined);

/** The browsers that the caller is signed in with, seen last first. @throws AppError PERMISSION_DENIED for a key for some projects */
export async function listSessions(principal: Principal, input: PageInput): Promise<Page<Session>> {
  if (projectLimit(principal))
    throw new AppError("PERMISSION_DENIED", "This API key is for some projects only, and tells nothing of the account.");
  const where = { user_id: principal.user.id, ended_at: null, expires_at: { gt: new Date() } };
  const rows = db().session.findMany({ where, orderBy: [{ seen_at: "desc" }, { id: "desc" }], ...pageWindow(input) });
  return paged(input, await Promise.all([db().session.count({ where }), rows]), ({ id, agent, ip, opened_at, seen_at }) => ({
    id,
    agent,
    ip,
    opened_at: opened_at.toISOString(),
    seen_at: seen_at.toISOString(),
    is_current: id === currentOf(principal),
  }));
}

/** Signs one browser of the caller out. @throws AppError NOT_FOUND, for somebody else's too */
export async function endOwnSession(principal: Principal, { session_id }: z.infer<typeof SessionRef>): Promise<void> {
  const { user } = principal;
  await db().$transaction(async (tx) => {
    const where = { id: session_id, user_id: user.id, ended_at: null };
    const { count } = isUuid(session_id) ? await tx.session.updateMany({ where, data: { ended_at: new Date() } }) : { count: 0 };
    if (count === 0) throw new AppError("NOT_FOUND", "There is no such session among yours.");
    const record = { action: "account.end_session", resource_type: "account", resource_id: user.id, resource_name: user.email } as const;
    await recordAuditEverywhere(tx, principal, record);
  });
}

/** Signs every browser of the caller out but the one that asks. */
export async function endOtherSessions(principal: Principal): Promise<z.infer<typeof EndedSessions>> {
  const { user } = principal;
  return db().$transaction(async (tx) => {
    const count = await endSessions(tx, user.id, currentOf(principal));
    const record = { action: "account.end_sessions", resource_type: "account", resource_id: user.id, resource_name: user.email } as const;
    await recordAuditEverywhere(tx, principal, { ...record, detail: { count } });
    return { count };
  });
}
