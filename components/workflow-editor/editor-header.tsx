"use client";

import { useQueryClient } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import Link from "next/link";
import { errorBodyOf, useTRPC } from "#components/trpc.tsx";
import { EditorMenu } from "#components/workflow-editor/editor-menu.tsx";
import { HistoryButton, SaveControls } from "#components/workflow-editor/history/save-button.tsx";
import { SaveStateText } from "#components/workflow-editor/history/save-state.tsx";
import { EditableName } from "#components/workflow-editor/node-panel/editable-name.tsx";
import { useSession, useSessionState } from "#components/workflow-editor/session/session-context.tsx";
import { RunButton, type RunButtonProps } from "#components/workflow-editor/test-runs/run-button.tsx";

export type EditorTab = "editor" | "runs";

export interface EditorHeaderProps extends RunButtonProps {
  tab: EditorTab;
  onTabChange: (tab: EditorTab) => void;
}

const TABS: Record<EditorTab, string> = { editor: "Editor", runs: "Runs" };

/** Name, state of saving, the two views, Save and Run. */
export function EditorHeader({ tab, onTabChange, run, isReadOnly }: EditorHeaderProps) {
  const session = useSession();
  const cache = useQueryClient();
  const trpc = useTRPC();
  const name = useSessionState((state) => state.name);
  const rename = async (next: string) => {
    try {
      await session.rename(next);
      void cache.invalidateQueries(trpc.workflows.list.pathFilter());
      return null;
    } catch (error) {
      return errorBodyOf(error).detail;
    }
  };
  return (
    <header className="flex min-h-12 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b bg-surface px-3 py-1.5">
      <div className="flex min-w-0 flex-1 items-center gap-1.5 max-sm:basis-full">
        <nav aria-label="Breadcrumb" className="flex shrink-0 items-center gap-1 text-13 text-ink-soft">
          <Link href="/workflows" className="inline-flex h-6 items-center rounded-sm hover:text-ink">
            Workflows
          </Link>
          <ChevronRight aria-hidden className="size-3.5 text-ink-faint" />
        </nav>
        <h1 className="min-w-0 max-w-100">
          <EditableName label="Workflow name" value={name} isReadOnly={isReadOnly} onCommit={rename} />
        </h1>
        <SaveStateText isReadOnly={isReadOnly} />
      </div>
      <div role="tablist" aria-label="Views" className="flex rounded-md border bg-sunken p-0.5">
        {(Object.keys(TABS) as EditorTab[]).map((key) => (
          <button
            key={key}
            type="button"
            role="tab"
            id={`view-${key}`}
            aria-selected={key === tab}
            aria-controls={`panel-${key}`}
            tabIndex={key === tab ? 0 : -1}
            onKeyDown={(event) => {
              if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
              const other = key === "editor" ? "runs" : "editor";
              onTabChange(other);
              document.getElementById(`view-${other}`)?.focus();
            }}
            className="h-6 rounded-sm px-2.5 font-medium text-12 text-ink-soft hover:text-ink aria-selected:bg-raised aria-selected:text-ink aria-selected:shadow-sm pointer-coarse:h-8"
            onClick={() => onTabChange(key)}
          >
            {TABS[key]}
          </button>
        ))}
      </div>
      <div className="flex flex-1 items-center justify-end gap-2">
        <EditorMenu />
        <HistoryButton isEditorShown={tab === "editor"} />
        <SaveControls isReadOnly={isReadOnly} />
        <RunButton run={run} isReadOnly={isReadOnly} />
      </div>
    </header>
  );
}
