"use client";

import { ArrowDown, ArrowUp, Copy, PenLine, Plus, Settings2, Spline, Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import { IconButton } from "#components/ui/icon-button.tsx";
import { MOD } from "#components/workflow-editor/canvas/control-bar.tsx";
import type { OutlineVerb } from "#components/workflow-editor/outline/outline-panel.tsx";
import type { OutlineItem } from "#components/workflow-editor/outline/outline-tree.ts";

const ACTIONS: readonly { verb: OutlineVerb; label: string; icon: ReactNode; shortcut: string[]; isForGroups?: boolean }[] = [
  { verb: "open", label: "Open settings", icon: <Settings2 />, shortcut: ["Enter"] },
  { verb: "rename", label: "Rename step", icon: <PenLine />, shortcut: ["F2"] },
  { verb: "insert", label: "Insert a step after", icon: <Plus />, shortcut: ["Alt", "N"], isForGroups: true },
  { verb: "up", label: "Move up", icon: <ArrowUp />, shortcut: ["Alt", "↑"] },
  { verb: "down", label: "Move down", icon: <ArrowDown />, shortcut: ["Alt", "↓"] },
  { verb: "connect", label: "Connect to…", icon: <Spline />, shortcut: ["Alt", "C"] },
  { verb: "duplicate", label: "Duplicate step", icon: <Copy />, shortcut: [MOD, "D"] },
  { verb: "remove", label: "Delete step", icon: <Trash2 />, shortcut: ["Delete"] },
];

/** What can be done to the active line, for a finger or a mouse; the tree has keys for all of it. */
export function OutlineActions({
  kind,
  isReadOnly,
  onAct,
}: {
  kind: OutlineItem["kind"] | null;
  isReadOnly: boolean;
  onAct: (verb: OutlineVerb) => void;
}) {
  return (
    <div role="toolbar" aria-label="Outline actions" className="flex flex-wrap items-center gap-0.5 border-b px-2 py-1">
      {ACTIONS.filter(({ verb }) => !isReadOnly || verb === "open").map(({ verb, label, icon, shortcut, isForGroups = false }) => (
        <IconButton
          key={verb}
          label={label}
          icon={icon}
          shortcut={shortcut}
          side="bottom"
          disabled={kind !== "step" && !(kind === "group" && isForGroups)}
          className="pointer-coarse:size-9"
          onClick={() => onAct(verb)}
        />
      ))}
    </div>
  );
}
