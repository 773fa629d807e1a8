import { StickyNote } from "lucide-react";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import type { NodeUi } from "#components/workflow-editor/nodes/types.ts";

// Loaded when the first note is drawn: most workflows have none, and pages without a canvas need none of its parts.
const NoteCard = loadedOnUse(
  () => import("#components/workflow-editor/nodes/note-card.tsx").then((module) => module.NoteCard),
  () => <div className="h-20 w-80" />,
);

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
