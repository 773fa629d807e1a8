// Written by server/generate.ts. Run `npm run gen` after adding a node type.
import { Bot, Braces, CircleStop, CodeXml, FileOutput, GitFork, Globe, Hourglass, Play, Repeat, Split, StickyNote, UserRoundCheck, Workflow } from "lucide-react";
import type { NodeUi } from "#components/workflow-editor/nodes/types.ts";
import type { NodeType } from "#server/workflow/nodes/registry.gen.ts";

export const nodeLooks: Record<NodeType, Pick<NodeUi, "icon" | "role">> = {
  agentNode: { icon: Bot, role: "agent" },
  branchNode: { icon: GitFork, role: "logic" },
  codeNode: { icon: CodeXml, role: "state" },
  httpNode: { icon: Globe, role: "interface" },
  humanLoopNode: { icon: UserRoundCheck, role: "human" },
  loopNode: { icon: Repeat, role: "logic" },
  noteNode: { icon: StickyNote, role: "state" },
  outputNode: { icon: FileOutput, role: "output" },
  setNode: { icon: Braces, role: "state" },
  switchNode: { icon: Split, role: "logic" },
  terminateNode: { icon: CircleStop, role: "flow" },
  triggerNode: { icon: Play, role: "interface" },
  waitNode: { icon: Hourglass, role: "flow" },
  workflowNode: { icon: Workflow, role: "flow" },
};
