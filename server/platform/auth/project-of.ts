import type { Principal, ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { projectLimit } from "#server/platform/auth/rights.ts";
import { pool } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import type { Role } from "#server/shared/primitives-schema.ts";

/** A project that a user is in, as PostgreSQL tells it. */
export interface Membership {
  role: Role;
  id: string;
  slug: string;
  name: string;
}

/** The project that a request names in its headers. */
interface AskedProject {
  slug: string | undefined;
  id: string | undefined;
}

/** X-Project-Slug, else X-Project-ID, else none. */
export function askedProject(headers: Headers): AskedProject {
  const slug = headers.get("x-project-slug")?.trim() || undefined;
  return { slug, id: slug === undefined ? headers.get("x-project-id")?.trim() || undefined : undefined };
}

/**
 * The memberships of a user that a request may mean, two at most, as rows of SQL, with the slug by which the user calls each.
 * Mine comes first, then the oldest membership.
 * @param user an expression; $2 and $3 are those of `membershipValues`
 * @param limit an expression: the ids of the only projects that count, null or empty for all
 */
export const membershipsOf = (user: string, limit: string): string => `
  SELECT m.role, p.id, coalesce(m.slug, p.slug) AS slug, p.name FROM memberships m JOIN projects p ON p.id = m.project_id
  WHERE m.user_id = ${user} AND ($2::text IS NULL OR coalesce(m.slug, p.slug) = $2) AND ($3::uuid IS NULL OR p.id = $3)
    AND (coalesce(cardinality(${limit}), 0) = 0 OR p.id = ANY(${limit}))
  ORDER BY (p.owner_id = m.user_id) DESC, m.created_at, m.project_id LIMIT 2`;

/** No project has this id. */
const NOWHERE = "00000000-0000-0000-0000-000000000000";

/** The parameters $2 and $3 of `membershipsOf`. */
export const membershipValues = ({ slug, id }: AskedProject): [string | null, string | null] => [
  slug ?? null,
  id === undefined || isUuid(id) ? (id ?? null) : NOWHERE,
];

const OF_USER = { name: "memberships-of-user", text: membershipsOf("$1", "$4::uuid[]") };

async function findMemberships(principal: Principal, asked: AskedProject): Promise<Membership[]> {
  const values = [principal.user.id, ...membershipValues(asked), projectLimit(principal)];
  return (await pool().query<Membership>({ ...OF_USER, values })).rows;
}

/**
 * The project of a call: X-Project-Slug, else X-Project-ID, else the only project of the user.
 * @param found what `membershipsOf` gave for these headers, if that was asked with something else
 * @throws AppError BAD_REQUEST with several projects and no header; NOT_FOUND for a project the user is not in, exactly
 *   as for one that does not exist
 */
export async function projectOf(principal: Principal, headers: Headers, found?: readonly Membership[]): Promise<ProjectPrincipal> {
  const asked = askedProject(headers);
  const memberships = found ?? (await findMemberships(principal, asked));
  const { slug, id } = asked;
  const isNamed = slug !== undefined || id !== undefined;
  if (!isNamed && memberships.length > 1)
    throw new AppError("BAD_REQUEST", "You are in several projects: name one with the header X-Project-Slug or X-Project-ID.");
  const [membership] = memberships;
  if (!membership)
    throw new AppError(
      "NOT_FOUND",
      isNamed
        ? `You are in no project with the ${slug === undefined ? "id of X-Project-ID" : "slug of X-Project-Slug"}.`
        : "You are in no project yet: create one, or ask to be added to one.",
    );
  const { role, ...project } = membership;
  return { ...principal, project, role };
}
