// Written by server/generate-registries.ts. Run `npm run gen` after adding a node type.
import { agentNode } from "#server/engine/nodes/agent-node.ts";
import { noteNode } from "#server/engine/nodes/note-node.ts";
import { outputNode } from "#server/engine/nodes/output-node.ts";
import { triggerNode } from "#server/engine/nodes/trigger-node.ts";

export const nodeDefinitions = { agentNode, noteNode, outputNode, triggerNode } as const;
export type NodeType = keyof typeof nodeDefinitions;
