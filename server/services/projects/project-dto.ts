import type { Project as ProjectRow } from "#prisma/generated/client.ts";
import type { Role } from "#server/schemas/primitives.ts";
import type { Project } from "#server/schemas/project.ts";

/** @param slug what the reader calls it; null is the project's own */
export const projectDto = (row: ProjectRow, role: Role, slug: string | null = null): Project => ({
  id: row.id,
  slug: slug ?? row.slug,
  name: row.name,
  role,
  retention_days: row.retention_days,
  executions_per_hour: row.executions_per_hour,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
