"use client";

import dynamic from "next/dynamic";
import type { ReactNode } from "react";
import { useHistory } from "#components/workflow-editor/history/history-context.tsx";

// Loaded when it is first looked at.
const HistoryPanel = dynamic(() => import("#components/workflow-editor/history/history-panel.tsx").then((module) => module.HistoryPanel));

/** What stands right of the canvas; while it is open the history of the workflow, and the rest is kept as it was. */
export function BesideCanvas({ isReadOnly, children }: { isReadOnly: boolean; children: ReactNode }) {
  const isOpen = useHistory((state) => state.isOpen);
  return (
    <>
      <div className={isOpen ? "hidden" : "contents"}>{children}</div>
      {isOpen && <HistoryPanel isReadOnly={isReadOnly} />}
    </>
  );
}
