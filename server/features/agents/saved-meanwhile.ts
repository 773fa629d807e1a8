import { db } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";

const MOST_SAVES = 50;

const changedIn = (detail: unknown): string[] => {
  const { changed } = Object(detail) as { changed?: unknown };
  return Array.isArray(changed) ? changed.filter((field): field is string => typeof field === "string") : [];
};

/**
 * The refusal of a change that was made on an agent as it is no longer: who saved it since, and what is different.
 * @param since when the agent was saved that the change begins from, as its `updated_at` told
 */
export async function savedMeanwhile(project_id: string, agent_id: string, since: Date): Promise<AppError> {
  const entries = await db().auditEntry.findMany({
    where: { project_id, resource_type: "agent", resource_id: agent_id, action: "agent.update", created_at: { gt: since } },
    orderBy: { id: "desc" },
    take: MOST_SAVES,
    select: { actor_id: true, actor_email: true, detail: true },
  });
  const saves = entries
    .map(({ detail, ...entry }) => ({ ...entry, changed: changedIn(detail) }))
    .filter(({ changed }) => changed.length > 0);
  const [last] = saves;
  const actor = last?.actor_id ? await db().user.findUnique({ where: { id: last.actor_id }, select: { name: true } }) : null;
  const who = actor?.name || last?.actor_email || "Somebody";
  const fields = [...new Set(saves.flatMap(({ changed }) => changed))].sort();
  const what = fields.length ? ` (changed: ${fields.join(", ")})` : "";
  const said = `${who} saved this agent after you loaded it`;
  const message = `${said}${what}. Load it again, or leave if_unchanged_since out to write over that.`;
  return new AppError("CONFLICT", message, { errors: [{ path: "if_unchanged_since", message: `${said}.` }] });
}
