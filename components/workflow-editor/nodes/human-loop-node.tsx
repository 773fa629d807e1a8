import { UserRoundCheck } from "lucide-react";
import { formatDuration } from "#components/format.ts";
import { templateChips } from "#components/workflow-editor/nodes/template-chips.ts";
import type { NodeUi } from "#components/workflow-editor/nodes/types.ts";

const HOUR_MS = 3_600_000;

export const humanLoopNodeUi: NodeUi<"humanLoopNode"> = {
  icon: UserRoundCheck,
  role: "human",
  waits: () => "Waiting for approval. Select to read it.",
  firstPin: "approved",
  sentence: ({ title, notification_email, timeout_hours }) => [
    "Ask for approval: ",
    ...(title.trim() ? templateChips(title) : [{ chip: "what came before", tone: "quiet" as const }]),
    ...(notification_email ? [", by e-mail to ", { chip: notification_email }] : []),
    ...(timeout_hours > 0 ? [", rejected after ", { chip: formatDuration(timeout_hours * HOUR_MS) }] : []),
  ],
};
