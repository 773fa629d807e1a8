import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";

/** A completed run of a workflow's saved version that nobody has carried, with what its Output nodes show. @returns its id */
export async function endedRun({ project }: ProjectPrincipal, workflow_id: string, outputs: Record<string, unknown>): Promise<string> {
  const { snapshot_id } = await db().workflow.findUniqueOrThrow({ where: { id: workflow_id } });
  const kept = Object.entries(outputs).map(([label, value]) => ({ node_id: label, label, format: "json", value: JSON.stringify(value) }));
  const values = { create: { output: kept[0]?.value ?? null, outputs: kept } };
  const ended = { status: "completed", workflow_version: 1, completed_at: new Date() } as const;
  const { id } = await db().execution.create({
    data: { project_id: project.id, workflow_id, snapshot_id, trigger: "manual", ...ended, values },
  });
  return id;
}
