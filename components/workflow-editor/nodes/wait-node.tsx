import { Hourglass } from "lucide-react";
import { formatSpan, formatUntil, SPAN_UNITS } from "#components/format.ts";
import { templateChips } from "#components/workflow-editor/nodes/template-chips.ts";
import { type NodeUi, ON_ERROR } from "#components/workflow-editor/nodes/types.ts";

export const waitNodeUi: NodeUi<"waitNode"> = {
  icon: Hourglass,
  role: "flow",
  waits({ mode }, until) {
    const end = until === undefined ? "" : ` until ${formatUntil(until)}`;
    return mode === "callback" ? `Waiting for a call${end}` : `Waiting${end}`;
  },
  firstPin: "done",
  choices: {
    mode: {
      for: { label: "For some time" },
      until: { label: "Until a time" },
      callback: { label: "For a call", description: "Anyone with {{label.resume_url}} can send one POST to it" },
    },
    on_error: ON_ERROR,
  },
  fields: ({ mode }) => ["mode", { for: "seconds", until: "until", callback: "timeout_hours" }[mode], "on_error"],
  sentence({ mode, seconds, until, timeout_hours }) {
    if (mode === "for") return ["Wait for ", { chip: formatSpan(seconds) }];
    if (mode === "callback") return ["Wait for a call, at most ", { chip: formatSpan(timeout_hours * SPAN_UNITS.hour) }];
    // A time that is written out is told as a clock would, in the reader's own zone.
    if (/^\d{4}-\d\d-\d\d/.test(until) && !Number.isNaN(Date.parse(until))) return ["Wait until ", { chip: formatUntil(until) }];
    return ["Wait until ", ...(until.trim() ? templateChips(until) : [{ chip: "a time", tone: "missing" as const }])];
  },
};
