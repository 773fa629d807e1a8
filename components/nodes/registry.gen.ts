// Written by server/generate-registries.ts. Run `npm run gen` after adding a node type.
import { agentNodeUi } from "#components/nodes/agent-node.tsx";
import { branchNodeUi } from "#components/nodes/branch-node.tsx";
import { humanLoopNodeUi } from "#components/nodes/human-loop-node.tsx";
import { loopNodeUi } from "#components/nodes/loop-node.tsx";
import { noteNodeUi } from "#components/nodes/note-node.tsx";
import { outputNodeUi } from "#components/nodes/output-node.tsx";
import { terminateNodeUi } from "#components/nodes/terminate-node.tsx";
import { triggerNodeUi } from "#components/nodes/trigger-node.tsx";
import type { NodeUiRegistry } from "#components/nodes/types.ts";

export const nodeUis = {
  agentNode: agentNodeUi,
  branchNode: branchNodeUi,
  humanLoopNode: humanLoopNodeUi,
  loopNode: loopNodeUi,
  noteNode: noteNodeUi,
  outputNode: outputNodeUi,
  terminateNode: terminateNodeUi,
  triggerNode: triggerNodeUi,
} satisfies NodeUiRegistry;
