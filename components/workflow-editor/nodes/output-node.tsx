import { FileOutput } from "lucide-react";
import { templateChips } from "#components/workflow-editor/nodes/template-chips.ts";
import type { NodeUi } from "#components/workflow-editor/nodes/types.ts";

const FORMATS = { json: "JSON", markdown: "Markdown", passthrough: "plain text" } as const;

export const outputNodeUi: NodeUi<"outputNode"> = {
  icon: FileOutput,
  role: "output",
  choices: {
    format: {
      passthrough: { label: "Plain text", description: "Kept as it comes" },
      json: { label: "JSON", description: "Must be valid JSON; shown as a tree" },
      markdown: { label: "Markdown", description: "Shown as formatted text" },
    },
  },
  sentence: ({ value, format }) => [
    "Keep ",
    ...(value.trim() ? templateChips(value) : [{ chip: "what came before", tone: "quiet" as const }]),
    ...(format === "passthrough" ? [] : [" as ", { chip: FORMATS[format] }]),
  ],
};
