import type { ProjectPrincipal } from "#server/auth/principal.ts";
import type { Graph } from "#server/schemas/graph.ts";
import type { ImportGraphInput } from "#server/schemas/workflow-file.ts";
import { linkFile } from "#server/services/workflow-files/link-file.ts";

/**
 * The graph of a file for a workflow that is open already, with the agents that are to be made for it. Makes no workflow: where
 * the nodes go, and that names stay unique there, is the editor's to see to.
 * @throws AppError as linkFile does
 */
export const importGraph = (principal: ProjectPrincipal, input: ImportGraphInput): Promise<Graph> =>
  linkFile(principal, input, async (graph) => graph);
