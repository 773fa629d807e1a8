import { createWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { type Golden, graphOf } from "#server/testing/golden-play.ts";

let count = 0;

/**
 * Makes a workflow that can run, of nodes and edges as golden runs write them.
 * @param more fields of the request besides
 * @returns its id
 * @throws Error naming the problems that would stop a run
 */
export async function newWorkflow(admin: ProjectPrincipal, nodes: Golden["nodes"], edges: string[], more: object = {}): Promise<string> {
  const { id, problems } = await createWorkflow(admin, { name: `Workflow ${++count}`, ...graphOf({ nodes, edges }), ...more });
  if (problems.length > 0) throw new Error(`The workflow cannot run: ${JSON.stringify(problems)}`);
  return id;
}
