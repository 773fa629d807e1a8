import { LRUCache } from "lru-cache";
import { z } from "zod";
import { ModelPrice, ProviderId } from "#server/features/llm-keys/schema.ts";
import { pool } from "#server/platform/db/client.ts";

/** A price of the project for a provider's models. */
export const ProjectPrice = ModelPrice.extend({ provider: ProviderId });
export type ProjectPrice = z.infer<typeof ProjectPrice>;

/** What every call of a model has to know of its project. */
interface Spending {
  prices: ProjectPrice[];
  hasBudgets: boolean;
}

/** How long it is believed, in milliseconds: what another process changes holds for calls after that. */
const BELIEVED_MS = 2000;
const known = new LRUCache<string, Promise<Spending>>({ max: 10_000, ttl: BELIEVED_MS });

const READ = `SELECT p.prices, EXISTS (SELECT FROM budgets b WHERE b.project_id = p.id) AS has_budgets FROM projects p WHERE p.id = $1`;

async function read(project_id: string): Promise<Spending> {
  const { rows } = await pool().query<{ prices: unknown; has_budgets: boolean }>({ name: "spending", text: READ, values: [project_id] });
  return { prices: z.array(ProjectPrice).parse(rows[0]?.prices ?? []), hasBudgets: rows[0]?.has_budgets ?? false };
}

/** The prices of a project, and whether it has budgets at all. */
export function spendingOf(project_id: string): Promise<Spending> {
  const before = known.get(project_id);
  if (before) return before;
  const spending = read(project_id);
  known.set(project_id, spending);
  spending.catch(() => known.delete(project_id));
  return spending;
}

/** Both have changed. */
export const forgetSpending = (project_id: string): boolean => known.delete(project_id);
