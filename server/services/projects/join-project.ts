import type { Prisma } from "#prisma/generated/client.ts";
import type { Role } from "#server/schemas/primitives.ts";
import { holdAccount } from "#server/services/projects/free-slug.ts";

/**
 * Makes a user a member of a project; who is one already keeps the role. One who has a project of the same slug calls it by
 * another: slugs are unique within an account (specification, Project).
 */
export async function joinProject(
  within: Prisma.TransactionClient,
  { project_id, user_id, role }: { project_id: string; user_id: string; role: Role },
): Promise<void> {
  await holdAccount(within, user_id);
  await within.$executeRaw`
    INSERT INTO memberships (project_id, user_id, role, slug)
    SELECT p.id, ${user_id}::uuid, ${role}::"Role", nullif(free_slug(${user_id}::uuid, p.slug, p.id), p.slug)
    FROM projects p WHERE p.id = ${project_id}::uuid
    ON CONFLICT (project_id, user_id) DO NOTHING`;
}
