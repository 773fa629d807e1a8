import { Play } from "lucide-react";
import type { NodeUi } from "#components/nodes/types.ts";

const MOST_CHIPS = 4;

export const triggerNodeUi: NodeUi<"triggerNode"> = {
  icon: Play,
  role: "interface",
  choices: {
    kind: {
      manual: { label: "A text", description: "A person or the API gives one text" },
      params: { label: "A form", description: "Named values with types and defaults" },
    },
  },
  shows: (field, { kind }) => (field === "parameters" ? kind === "params" : field === "kind" || kind === "manual"),
  sentence({ kind, input_label, parameters }) {
    if (kind === "manual") return ["Starts with ", input_label ? { chip: input_label } : { chip: "a text", tone: "quiet" }];
    if (parameters.length === 0) return ["Asks for ", { chip: "values", tone: "missing" }];
    const shown = parameters
      .slice(0, MOST_CHIPS)
      .flatMap(({ name, label }, index) => [index ? " " : "Asks for ", { chip: label || name || "…" }]);
    const rest = parameters.length - MOST_CHIPS;
    return rest > 0 ? [...shown, ` and ${rest} more`] : shown;
  },
};
