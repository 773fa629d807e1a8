import type { z } from "zod";
import type { Prisma, Project as ProjectRow, User } from "#prisma/generated/client.ts";
import { freeSlug, holdAccount, memberOf } from "#server/features/projects/members.ts";
import type { CreateProjectInput, Project, ProjectRef, UpdateProjectInput } from "#server/features/projects/schema.ts";
import { assertErrorWorkflow, errorWorkflow } from "#server/features/workflows/error-workflow-setting.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import type { Principal, ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { projectLimit } from "#server/platform/auth/rights.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, invalidField, isUniqueViolation } from "#server/platform/errors.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import { settings } from "#server/platform/settings.ts";
import { hourlyValues } from "#server/runs/store/limits.ts";
import type { Page, PageInput, Role } from "#server/shared/primitives-schema.ts";

/** @param slug what the reader calls it; null is the project's own */
export const projectDto = (row: ProjectRow, role: Role, slug: string | null = null): Project => ({
  id: row.id,
  slug: slug ?? row.slug,
  name: row.name,
  role,
  retention_days: row.retention_days,
  executions_per_hour: row.executions_per_hour,
  error_workflow_id: row.error_workflow_id,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

const LONGEST = 60;

/** A name as a slug: `Équipe Vente 2` becomes `equipe-vente-2`; a name without any Latin letter or digit becomes `project`. */
export function slugOf(name: string): string {
  const plain = name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const slug = plain
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, LONGEST - 5)
    .replace(/^-|-$/g, "");
  return slug || "project";
}

/** Adds the project that an account starts in. */
export async function insertFirstProject(tx: Prisma.TransactionClient, user: User): Promise<ProjectRow> {
  const project = await insertProject(tx, user.id, { name: "My project" });
  const resource = { resource_type: "project", resource_id: project.id, resource_name: project.name } as const;
  await recordAudit(tx, { user, auth: { type: "session" }, project }, { action: "project.create", ...resource });
  return project;
}

/**
 * Adds a project with its owner as admin. Projects that are put aside do not count against the limit, or their creator could
 * keep the owner of the address from getting one.
 * @param slug as the owner wants it; made of the name when left out
 * @throws AppError CONFLICT when the owner has a project of that slug, or as many as PROJECTS_PER_USER allows
 */
export async function insertProject(
  within: Prisma.TransactionClient,
  ownerId: string,
  { name, slug }: { name: string; slug?: string | undefined },
): Promise<ProjectRow> {
  // One creation at a time for each owner, so that two at once cannot find the same slug free, nor the last place.
  await holdAccount(within, ownerId);
  const { PROJECTS_PER_USER } = settings();
  const { email } = await within.user.findUniqueOrThrow({ where: { id: ownerId }, select: { email: true } });
  const counted = { owner_id: ownerId, invitations: { none: { email, put_aside_at: { not: null }, accepted_at: null } } };
  if (PROJECTS_PER_USER > 0 && (await within.project.count({ where: counted })) >= PROJECTS_PER_USER)
    throw new AppError(
      "CONFLICT",
      `You own ${PROJECTS_PER_USER} projects, which is the most here. Delete one first, or have the operator raise PROJECTS_PER_USER.`,
    );
  const free = await freeSlug(within, ownerId, slug ?? slugOf(name));
  if (slug !== undefined && free !== slug) throw slugTaken(slug);
  return within.project.create({
    data: { name, slug: free, owner_id: ownerId, memberships: { create: { user_id: ownerId, role: "admin" } } },
  });
}

export const slugTaken = (slug: string): AppError =>
  new AppError("CONFLICT", `You have a project with the slug ${slug} already: choose another one.`);

/**
 * Creates a project; the caller owns it and is its admin.
 * @throws AppError CONFLICT when the caller has a project of that slug
 */
export async function createProject(principal: Principal, input: z.infer<typeof CreateProjectInput>): Promise<Project> {
  return db().$transaction(async (tx) => {
    const project = await insertProject(tx, principal.user.id, input);
    const resource = { resource_type: "project", resource_id: project.id, resource_name: project.name } as const;
    await recordAudit(tx, { ...principal, project }, { action: "project.create", ...resource });
    return projectDto(project, "admin");
  });
}

/** @throws AppError NOT_FOUND for a project the user is not in */
export async function getProject(principal: Principal, { project_id }: z.infer<typeof ProjectRef>): Promise<Project> {
  const { role, project } = await memberOf(principal, project_id, "viewer");
  return projectDto(await db().project.findUniqueOrThrow({ where: { id: project_id } }), role, project.slug);
}

/** The projects that the user is a member of and the key opens, newest first. */
export async function listProjects(principal: Principal, input: PageInput): Promise<Page<Project>> {
  const limit = projectLimit(principal);
  const where = { user_id: principal.user.id, ...(limit && { project_id: { in: [...limit] } }) };
  const result = await Promise.all([
    db().membership.count({ where }),
    db().membership.findMany({ where, include: { project: true }, orderBy: { project_id: "desc" }, ...pageWindow(input) }),
  ]);
  return paged(input, result, ({ project, role, slug }) => projectDto(project, role, slug));
}

/**
 * Changes a project with its slug, and what its members call it: the new slug, or one made of it where they have another
 * project of that slug.
 * @throws AppError CONFLICT when the caller has one
 */
async function renamed(
  tx: Prisma.TransactionClient,
  { user, project: { id } }: ProjectPrincipal,
  slug: string,
  data: Prisma.ProjectUpdateInput,
): Promise<ProjectRow> {
  await tx.$queryRaw`SELECT u.id FROM users u JOIN memberships m ON m.user_id = u.id WHERE m.project_id = ${id}::uuid ORDER BY u.id FOR NO KEY UPDATE OF u`;
  if ((await freeSlug(tx, user.id, slug, id)) !== slug) throw slugTaken(slug);
  const row = await tx.project.update({ where: { id }, data });
  await tx.$executeRaw`UPDATE memberships SET slug = nullif(free_slug(user_id, ${slug}, project_id), ${slug}) WHERE project_id = ${id}::uuid`;
  return row;
}

/**
 * Changes name, slug, retention or hourly limit of a project; what is left out stays.
 * @throws AppError NOT_FOUND, PERMISSION_DENIED below admin, VALIDATION_ERROR for more an hour than the install allows, CONFLICT for a slug that its owner uses already
 */
export async function updateProject(principal: Principal, input: z.infer<typeof UpdateProjectInput>): Promise<Project> {
  const member = await memberOf(principal, input.project_id, "admin");
  const { name, slug, retention_days, executions_per_hour, error_workflow_id } = input;
  const [, most] = hourlyValues();
  if (most > 0 && (executions_per_hour ?? 0) > most)
    throw invalidField(
      "executions_per_hour",
      `This install allows a project at most ${most} executions in an hour. Use a lower value, or ask an install admin.`,
    );
  // What the caller calls it is not another slug for everybody.
  const isRenamed = slug !== undefined && slug !== member.project.slug;
  const change = {
    ...(name !== undefined && { name }),
    ...(isRenamed && { slug }),
    ...(retention_days !== undefined && { retention_days }),
    ...(executions_per_hour !== undefined && { executions_per_hour }),
    ...errorWorkflow(error_workflow_id),
  };
  try {
    return await db().$transaction(async (tx) => {
      await assertErrorWorkflow(tx, member.project.id, error_workflow_id);
      const row = isRenamed
        ? await renamed(tx, member, slug, change)
        : await tx.project.update({ where: { id: member.project.id }, data: change });
      const resource = { resource_type: "project", resource_id: row.id, resource_name: row.name } as const;
      await recordAudit(tx, member, { action: "project.update", ...resource, detail: change });
      return projectDto(row, member.role, isRenamed ? slug : member.project.slug);
    });
  } catch (error) {
    throw isUniqueViolation(error) && slug !== undefined ? slugTaken(slug) : error;
  }
}
