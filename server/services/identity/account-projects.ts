import type { Prisma } from "#prisma/generated/client.ts";

export interface AccountProjects {
  /** Nobody else is in them. */
  alone: { id: string; name: string }[];
  /** Others are in them, and this user is the only admin. */
  last_admin: { id: string; name: string }[];
  /** They can do without this user. */
  shared: { id: string; name: string }[];
}

/** The user's projects by what would become of them without the user, by name. */
export async function accountProjects(within: Pick<Prisma.TransactionClient, "membership">, user_id: string): Promise<AccountProjects> {
  const memberships = await within.membership.findMany({
    where: { user_id },
    select: { project: { select: { id: true, name: true, memberships: { select: { user_id: true, role: true } } } } },
    orderBy: { project: { name: "asc" } },
  });
  const projects: AccountProjects = { alone: [], last_admin: [], shared: [] };
  for (const { project } of memberships) {
    const others = project.memberships.filter((member) => member.user_id !== user_id);
    const kind = others.length === 0 ? "alone" : others.some(({ role }) => role === "admin") ? "shared" : "last_admin";
    projects[kind].push({ id: project.id, name: project.name });
  }
  return projects;
}
