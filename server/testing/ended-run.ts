import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import type { ExecutionStatus } from "#server/runs/status-schema.ts";

const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

interface Ending {
  status?: ExecutionStatus;
  version?: number | null;
  at?: Date;
}

/** A run that has ended, with what its Output nodes show, and that nobody has carried. @returns its id */
export async function endedRun(
  { project }: Pick<ProjectPrincipal, "project">,
  workflow_id: string,
  outputs: Record<string, unknown>,
  { status = "completed", version = 1, at = new Date() }: Ending = {},
): Promise<string> {
  const { snapshot_id } = await db().workflow.findUniqueOrThrow({ where: { id: workflow_id }, select: { snapshot_id: true } });
  const kept = Object.entries(outputs).map(([label, value]) => ({ node_id: label, label, format: "json", value: textOf(value) }));
  const values = { create: { output: kept[0]?.value ?? null, outputs: kept } };
  const common = { project_id: project.id, workflow_id, snapshot_id, trigger: "manual", status, workflow_version: version };
  return (await db().execution.create({ data: { ...common, created_at: at, completed_at: at, values } })).id;
}
