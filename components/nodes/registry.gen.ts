// Written by server/generate-registries.ts. Run `npm run gen` after adding a node type.
import { agentNodeUi } from "#components/nodes/agent-node.tsx";
import { noteNodeUi } from "#components/nodes/note-node.tsx";
import { outputNodeUi } from "#components/nodes/output-node.tsx";
import { triggerNodeUi } from "#components/nodes/trigger-node.tsx";
import type { NodeUiRegistry } from "#components/nodes/types.ts";

export const nodeUis = {
  agentNode: agentNodeUi,
  noteNode: noteNodeUi,
  outputNode: outputNodeUi,
  triggerNode: triggerNodeUi,
} satisfies NodeUiRegistry;
