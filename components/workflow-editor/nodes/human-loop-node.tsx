import { UserRoundCheck } from "lucide-react";
import { formatDuration, plural } from "#components/format.ts";
import { templateChips } from "#components/workflow-editor/nodes/template-chips.ts";
import type { NodeUi } from "#components/workflow-editor/nodes/types.ts";
import type { Assignee } from "#server/workflow/nodes/review-terms.ts";

const HOUR_MS = 3_600_000;

/** Roles by their names, people by how many they are. */
function asked(assignees: readonly Assignee[]): string[] {
  const people = assignees.filter(({ kind }) => kind === "user").length;
  const roles = assignees.flatMap(({ kind, value }) => (kind === "role" ? [`${value}s`] : []));
  return [...(people > 0 ? [people === 1 ? "one person" : plural(people, "person", "people")] : []), ...roles];
}

export const humanLoopNodeUi: NodeUi<"humanLoopNode"> = {
  icon: UserRoundCheck,
  role: "human",
  waits: () => "Waiting for approval. Select to read it.",
  firstPin: "approved",
  choices: {
    "choices.style": {
      primary: { label: "Main", description: "The answer that stands out" },
      neutral: { label: "Other", description: "A further answer" },
      danger: { label: "No", description: "Counts as a rejection" },
    },
  },
  sentence: ({ title, assignees, quorum, text, editable, notification_email, timeout_hours }) => [
    "Ask for approval: ",
    ...(title.trim() ? templateChips(title) : [{ chip: "what came before", tone: "quiet" as const }]),
    ...(quorum > 1 ? [", of ", { chip: `${quorum} people` }] : []),
    ...(assignees.length > 0 ? [quorum > 1 ? " among " : ", of ", { chip: asked(assignees).join(", ") }] : []),
    ...(editable ? [", who may change the text"] : text.trim() ? [", with a text"] : []),
    ...(notification_email ? [", by e-mail to ", { chip: notification_email }] : []),
    ...(timeout_hours > 0 ? [", rejected after ", { chip: formatDuration(timeout_hours * HOUR_MS) }] : []),
  ],
};
