import { StickyNote } from "lucide-react";
import { NoteCard } from "#components/workflow-editor/nodes/note-card-on-use.tsx";
import type { NodeUi } from "#components/workflow-editor/nodes/types.ts";

export const noteNodeUi: NodeUi<"noteNode"> = {
  icon: StickyNote,
  role: "state",
  choices: {
    color: {
      yellow: { label: "Yellow" },
      green: { label: "Green" },
      blue: { label: "Blue" },
      pink: { label: "Pink" },
      grey: { label: "Grey" },
    },
  },
  sentence: ({ content }) => [content.slice(0, 90)],
  Card: ({ id, config, label }) => <NoteCard id={id} config={config} label={label} />,
};
