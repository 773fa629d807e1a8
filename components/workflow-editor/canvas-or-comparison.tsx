"use client";

import dynamic from "next/dynamic";
import type { ReactNode } from "react";
import { cn } from "#components/ui/cn.ts";
import { useComparison } from "#components/workflow-editor/history/history-context.tsx";

// Loaded when it is first looked at.
const VersionCompare = dynamic(() =>
  import("#components/workflow-editor/history/version-compare.tsx").then((module) => module.VersionCompare),
);

/** The live canvas, or while something is compared the picture of both sides in its place. The draft is kept as it was. */
export function CanvasOrComparison({ isReadOnly, children }: { isReadOnly: boolean; children: ReactNode }) {
  const comparison = useComparison();
  return (
    <div className="relative min-h-0 flex-1">
      <div className={cn("size-full", comparison && "hidden")}>{children}</div>
      {comparison && <VersionCompare comparison={comparison} isReadOnly={isReadOnly} />}
    </div>
  );
}
