import { StickyNote } from "lucide-react";
import dynamic from "next/dynamic";
import type { NodeUi } from "#components/nodes/types.ts";
import { cn } from "#components/ui/cn.ts";

// Loaded when the first note is drawn: most workflows have none, and the renderer is heavy.
const Markdown = dynamic(() => import("#components/ui/markdown.tsx").then((module) => module.Markdown));

/** Colours of a note, by the names kept in the graph; anything else is drawn as the first. */
const COLOURS: Record<string, string> = {
  yellow: "border-role-state/35 bg-role-state-soft",
  green: "border-role-output/35 bg-role-output-soft",
  blue: "border-role-interface/35 bg-role-interface-soft",
  pink: "border-role-human/35 bg-role-human-soft",
  grey: "border-line-strong bg-role-flow-soft",
};

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
  Card: ({ config }) => (
    <div className={cn("w-80 rounded-lg border p-4 text-ink", COLOURS[config.color] ?? COLOURS.yellow)}>
      <div className="nowheel max-h-50 overflow-y-auto">
        {config.content.trim() ? (
          <Markdown className="text-13 [&>*+*]:mt-2 [&>:first-child]:mt-0">{config.content}</Markdown>
        ) : (
          <p className="text-13 text-ink-faint">Write a note in the panel.</p>
        )}
      </div>
    </div>
  ),
};
