// Written by server/generate.ts. Run `npm run gen` after adding a node type.
import { agentNode } from "#server/workflow/nodes/agent-node.ts";
import { branchNode } from "#server/workflow/nodes/branch-node.ts";
import { codeNode } from "#server/workflow/nodes/code-node.ts";
import { httpNode } from "#server/workflow/nodes/http-node.ts";
import { humanLoopNode } from "#server/workflow/nodes/human-loop-node.ts";
import { loopNode } from "#server/workflow/nodes/loop-node.ts";
import { noteNode } from "#server/workflow/nodes/note-node.ts";
import { outputNode } from "#server/workflow/nodes/output-node.ts";
import { setNode } from "#server/workflow/nodes/set-node.ts";
import { switchNode } from "#server/workflow/nodes/switch-node.ts";
import { terminateNode } from "#server/workflow/nodes/terminate-node.ts";
import { triggerNode } from "#server/workflow/nodes/trigger-node.ts";
import { waitNode } from "#server/workflow/nodes/wait-node.ts";
import { workflowNode } from "#server/workflow/nodes/workflow-node.ts";

export const nodeDefinitions = { agentNode, branchNode, codeNode, httpNode, humanLoopNode, loopNode, noteNode, outputNode, setNode, switchNode, terminateNode, triggerNode, waitNode, workflowNode } as const;
export type NodeType = keyof typeof nodeDefinitions;
