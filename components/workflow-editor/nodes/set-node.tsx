import { Braces } from "lucide-react";
import { type NodeUi, ON_ERROR } from "#components/workflow-editor/nodes/types.ts";

/** So many names stand on the card. */
const MOST = 4;

export const setNodeUi: NodeUi<"setNode"> = {
  icon: Braces,
  role: "state",
  firstPin: "{}",
  choices: {
    on_error: ON_ERROR,
    "fields.type": {
      text: { label: "Text", sign: "Aa" },
      number: { label: "Number", sign: "12" },
      boolean: { label: "Yes or no", sign: "Y/N" },
      json: { label: "JSON", sign: "{ }" },
    },
  },
  sentence({ fields, keep_input }) {
    const names = fields
      .slice(0, MOST)
      .flatMap(({ name }, index) => [...(index > 0 ? [", "] : []), name ? { chip: name } : { chip: "a name", tone: "missing" as const }]);
    const more = fields.length > MOST ? [` and ${fields.length - MOST} more`] : [];
    if (fields.length === 0 && !keep_input) return ["Set ", { chip: "a field", tone: "missing" }];
    if (fields.length === 0) return ["Keep ", { chip: "what came before", tone: "quiet" }];
    return ["Set ", ...names, ...more, ...(keep_input ? [" in ", { chip: "what came before", tone: "quiet" as const }] : [])];
  },
};
