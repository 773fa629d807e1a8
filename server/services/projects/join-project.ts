import type { Prisma } from "#prisma/generated/client.ts";
import type { Role } from "#server/schemas/primitives.ts";
import { holdAccount } from "#server/services/projects/free-slug.ts";

/**
 * Makes a user a member of a project. One who has a project of the same slug calls it by another: slugs are unique within an
 * account (specification, Project).
 * @param ifMember what happens to one who is a member already: gets the role, or keeps the one that there is
 */
export async function joinProject(
  within: Prisma.TransactionClient,
  { project_id, user_id, role }: { project_id: string; user_id: string; role: Role },
  ifMember: "set role" | "keep role",
): Promise<void> {
  await holdAccount(within, user_id);
  const isSet = ifMember === "set role";
  await within.$executeRaw`
    INSERT INTO memberships (project_id, user_id, role, slug)
    SELECT p.id, ${user_id}::uuid, ${role}::"Role", nullif(free_slug(${user_id}::uuid, p.slug, p.id), p.slug)
    FROM projects p WHERE p.id = ${project_id}::uuid
    ON CONFLICT (project_id, user_id) DO UPDATE SET role = CASE WHEN ${isSet}::boolean THEN excluded.role ELSE memberships.role END`;
}
