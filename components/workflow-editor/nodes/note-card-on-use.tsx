"use client";

import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";

/** Loaded when the first note is drawn: most workflows have none, and pages without a canvas need none of its parts. */
export const NoteCard = loadedOnUse(
  () => import("#components/workflow-editor/nodes/note-card.tsx").then((module) => module.NoteCard),
  () => <div className="h-20 w-80" />,
);
