import type { Prisma, PrismaClient } from "#prisma/generated/client.ts";
import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { notFound } from "#server/errors.ts";
import { isUuid } from "#server/services/ids.ts";

/**
 * The fields of one workflow of the caller's project.
 * @throws AppError NOT_FOUND, the same for an id of another project
 */
export async function findWorkflow<Fields extends Prisma.WorkflowSelect>(
  { project }: ProjectPrincipal,
  workflow_id: string,
  select: Fields,
  within: Pick<PrismaClient, "workflow"> = db(),
): Promise<Prisma.WorkflowGetPayload<{ select: Fields }>> {
  if (!isUuid(workflow_id)) throw notFound("workflow");
  const row = await within.workflow.findFirst({ where: { id: workflow_id, project_id: project.id, deleted_at: null }, select });
  if (!row) throw notFound("workflow");
  return row as Prisma.WorkflowGetPayload<{ select: Fields }>;
}
