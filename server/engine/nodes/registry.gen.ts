// Written by server/generate-registries.ts. Run `npm run gen` after adding a node type.
import { agentNode } from "#server/engine/nodes/agent-node.ts";
import { branchNode } from "#server/engine/nodes/branch-node.ts";
import { humanLoopNode } from "#server/engine/nodes/human-loop-node.ts";
import { loopNode } from "#server/engine/nodes/loop-node.ts";
import { noteNode } from "#server/engine/nodes/note-node.ts";
import { outputNode } from "#server/engine/nodes/output-node.ts";
import { terminateNode } from "#server/engine/nodes/terminate-node.ts";
import { triggerNode } from "#server/engine/nodes/trigger-node.ts";

export const nodeDefinitions = { agentNode, branchNode, humanLoopNode, loopNode, noteNode, outputNode, terminateNode, triggerNode } as const;
export type NodeType = keyof typeof nodeDefinitions;
