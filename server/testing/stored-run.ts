import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { EngineServices } from "#server/engine/ports.ts";
import { runStore } from "#server/engine/run-store.ts";
import type { Graph } from "#server/schemas/graph.ts";
import { startExecution } from "#server/services/executions/start-execution.ts";
import { createWorkflow } from "#server/services/workflows/create-workflow.ts";
import { testServices } from "#server/testing/engine-services.ts";

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
    { agentNames: async (_, ids) => new Map(ids.map((id) => [id, id])), callAgent: async ({ message }) => ({ output: message }), ...own },
  );
