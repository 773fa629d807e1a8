import type { Principal, ProjectPrincipal } from "#server/auth/principal.ts";
import { pool } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import type { Role } from "#server/schemas/primitives.ts";
import { isUuid } from "#server/services/ids.ts";

// In SQL, because every call of the API asks this.
const memberships = (name: string, condition: string) => ({
  name: `membership-${name}`,
  text: `SELECT m.role, p.id, p.slug, p.name, p.owner_id FROM memberships m JOIN projects p ON p.id = m.project_id
         WHERE m.user_id = $1 ${condition}`,
});
/** Slugs are unique per owner, so several projects of one slug may be within reach: mine comes first, then the oldest membership. */
const BY_SLUG = memberships("by-slug", "AND p.slug = $2 ORDER BY (p.owner_id = m.user_id) DESC, m.created_at, m.project_id LIMIT 1");
const BY_ID = memberships("by-id", "AND m.project_id = $2");
const ANY = memberships("any", "LIMIT 2");

type Row = { role: Role; id: string; slug: string; name: string; owner_id: string };
const find = async (query: typeof ANY, ...values: string[]) => (await pool().query<Row>({ ...query, values })).rows;

async function theOnlyOne(userId: string) {
  const found = await find(ANY, userId);
  if (found.length > 1)
    throw new AppError("BAD_REQUEST", "You are in several projects: name one with the header X-Project-Slug or X-Project-ID.");
  if (!found[0]) throw new AppError("NOT_FOUND", "You are in no project yet: create one, or ask to be added to one.");
  return found[0];
}

async function membershipOf(userId: string, slug: string | undefined, id: string | undefined) {
  if (slug) return (await find(BY_SLUG, userId, slug))[0];
  if (id) return isUuid(id) ? (await find(BY_ID, userId, id))[0] : undefined;
  return theOnlyOne(userId);
}

/**
 * The project of a call: X-Project-Slug, else X-Project-ID, else the only project of the user.
 * @throws AppError BAD_REQUEST with several projects and no header; NOT_FOUND for a project the user is not in, exactly
 *   as for one that does not exist
 */
export async function projectOf(principal: Principal, headers: Headers): Promise<ProjectPrincipal> {
  const slug = headers.get("x-project-slug")?.trim();
  const id = headers.get("x-project-id")?.trim();
  const membership = await membershipOf(principal.user.id, slug, id);
  if (!membership)
    throw new AppError("NOT_FOUND", `You are in no project with the ${slug ? "slug of X-Project-Slug" : "id of X-Project-ID"}.`);
  const { role, owner_id: _, ...project } = membership;
  return { ...principal, project, role };
}
