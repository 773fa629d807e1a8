import { CodeXml } from "lucide-react";
import { type NodeUi, ON_ERROR } from "#components/workflow-editor/nodes/types.ts";

const MAX_CHARACTERS = 90;

export const codeNodeUi: NodeUi<"codeNode"> = {
  icon: CodeXml,
  role: "state",
  firstPin: "null",
  choices: { on_error: ON_ERROR },
  sentence({ code }) {
    // The last line says what comes out.
    const line = code.trim().split("\n").at(-1)?.trim() ?? "";
    if (line === "") return ["Run ", { chip: "Python", tone: "missing" }];
    return ["Run Python: ", { chip: line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS)}…` : line, tone: "code" }];
  },
};
