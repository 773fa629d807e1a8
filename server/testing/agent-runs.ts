import { engineServices } from "#server/jobs/engine-services.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { startStoredRun } from "#server/testing/stored-run.ts";

const position = { x: 0, y: 0 };

/** A trigger, then agents one after the other, each asked "one two three". */
export const agentChain = (agents: string[], more: object = {}) => ({
  nodes: [
    { id: "t", type: "triggerNode", position, data: { label: "Start" } },
    ...agents.map((agent_id, index) => ({
      id: `a${index}`,
      type: "agentNode",
      position,
      data: { label: `Ask ${index}`, agent_id, input: "one two three", retries: 0, ...more },
    })),
  ],
  edges: agents.map((_, index) => ({ id: `e${index}`, source: index === 0 ? "t" : `a${index - 1}`, target: `a${index}` })),
});

/** Runs such a workflow to its end. @returns the execution's id */
export async function runChain(admin: ProjectPrincipal, graph: ReturnType<typeof agentChain>): Promise<string> {
  const execution_id = await startStoredRun(admin, graph);
  await claimAndExecute(engineServices, execution_id, 1e6);
  return execution_id;
}
