import { createWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { callbackOf } from "#server/runs/callback-token.ts";
import type { EngineServices } from "#server/runs/ports.ts";
import { runStore } from "#server/runs/store/run-store.ts";
import { startExecution } from "#server/runs/use-cases/start-execution.ts";
import { testServices } from "#server/testing/engine-services.ts";
import type { Graph } from "#server/workflow/schema.ts";

let count = 0;

/** A run in the database that nobody has carried yet. @returns its id */
export async function startStoredRun(admin: ProjectPrincipal, graph: Graph, input = "x"): Promise<string> {
  const { id: workflow_id } = await createWorkflow(admin, { name: `Workflow ${++count}`, ...graph });
  const { snapshot_id } = await db().workflow.findUniqueOrThrow({ where: { id: workflow_id } });
  const common = { project_id: admin.project.id, workflow_id, workflow_version: 1, snapshot_id, started_by_id: admin.user.id };
  return (await startExecution({ ...common, trigger: "manual", input, params: null })).execution_id;
}

/** The run loop's ports over the database; agents answer what they were asked unless the test says otherwise. */
export const storedServices = (own: Partial<EngineServices> = {}): EngineServices =>
  testServices(
    { store: runStore },
    {
      agentNames: async (_, ids) => new Map(ids.map((id) => [id, id])),
      callAgent: async ({ message }) => ({ output: message }),
      callback: callbackOf,
      ...own,
    },
  );
