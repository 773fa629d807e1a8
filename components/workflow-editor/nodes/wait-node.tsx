import { Hourglass } from "lucide-react";
import { formatDuration } from "#components/format.ts";
import { templateChips } from "#components/workflow-editor/nodes/template-chips.ts";
import { type NodeUi, ON_ERROR } from "#components/workflow-editor/nodes/types.ts";

const HOUR_MS = 3_600_000;

export const waitNodeUi: NodeUi<"waitNode"> = {
  icon: Hourglass,
  role: "flow",
  waits: "Waiting",
  firstPin: "done",
  choices: {
    mode: {
      for: { label: "For some time" },
      until: { label: "Until a time" },
      callback: { label: "For a call", description: "Whoever has {{label.resume_url}} may POST to it, once" },
    },
    on_error: ON_ERROR,
  },
  fields: ({ mode }) => ["mode", { for: "seconds", until: "until", callback: "timeout_hours" }[mode], "on_error"],
  sentence({ mode, seconds, until, timeout_hours }) {
    if (mode === "for") return ["Wait for ", { chip: formatDuration(seconds * 1000) }];
    if (mode === "callback") return ["Wait for a call, at most ", { chip: formatDuration(timeout_hours * HOUR_MS) }];
    return ["Wait until ", ...(until.trim() ? templateChips(until) : [{ chip: "a time", tone: "missing" as const }])];
  },
};
