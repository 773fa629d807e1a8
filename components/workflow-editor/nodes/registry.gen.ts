// Written by server/generate.ts. Run `npm run gen` after adding a node type.
import { agentNodeUi } from "#components/workflow-editor/nodes/agent-node.tsx";
import { branchNodeUi } from "#components/workflow-editor/nodes/branch-node.tsx";
import { codeNodeUi } from "#components/workflow-editor/nodes/code-node.tsx";
import { httpNodeUi } from "#components/workflow-editor/nodes/http-node.tsx";
import { humanLoopNodeUi } from "#components/workflow-editor/nodes/human-loop-node.tsx";
import { loopNodeUi } from "#components/workflow-editor/nodes/loop-node.tsx";
import { noteNodeUi } from "#components/workflow-editor/nodes/note-node.tsx";
import { outputNodeUi } from "#components/workflow-editor/nodes/output-node.tsx";
import { setNodeUi } from "#components/workflow-editor/nodes/set-node.tsx";
import { switchNodeUi } from "#components/workflow-editor/nodes/switch-node.tsx";
import { terminateNodeUi } from "#components/workflow-editor/nodes/terminate-node.tsx";
import { triggerNodeUi } from "#components/workflow-editor/nodes/trigger-node.tsx";
import { waitNodeUi } from "#components/workflow-editor/nodes/wait-node.tsx";
import { workflowNodeUi } from "#components/workflow-editor/nodes/workflow-node.tsx";
import type { NodeUiRegistry } from "#components/workflow-editor/nodes/types.ts";

export const nodeUis = {
  agentNode: agentNodeUi,
  branchNode: branchNodeUi,
  codeNode: codeNodeUi,
  httpNode: httpNodeUi,
  humanLoopNode: humanLoopNodeUi,
  loopNode: loopNodeUi,
  noteNode: noteNodeUi,
  outputNode: outputNodeUi,
  setNode: setNodeUi,
  switchNode: switchNodeUi,
  terminateNode: terminateNodeUi,
  triggerNode: triggerNodeUi,
  waitNode: waitNodeUi,
  workflowNode: workflowNodeUi,
} satisfies NodeUiRegistry;
