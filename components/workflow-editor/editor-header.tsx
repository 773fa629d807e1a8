"use client";

import { ChevronLeft, ChevronRight, Copy, Download, Ellipsis, FileInput, FileUp, LayoutTemplate, Siren } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { useCommands } from "#components/shell/commands.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Link } from "#components/ui/link.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Menu, MenuItem, MenuSeparator } from "#components/ui/menu.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { positionBelowAll } from "#components/workflow-editor/canvas/document/edits.ts";
import { useCanvasUiStore, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { EnabledSwitch } from "#components/workflow-editor/history/enabled-switch.tsx";
import { HistoryButton, PublishControls } from "#components/workflow-editor/history/publish-controls.tsx";
import { SaveStateText } from "#components/workflow-editor/history/save-state.tsx";
import { EditableName } from "#components/workflow-editor/node-panel/editable-name.tsx";
import { useSession, useSessionState } from "#components/workflow-editor/session/session-context.tsx";
import { RunButton, type RunButtonProps } from "#components/workflow-editor/test-runs/run-button.tsx";
import { useExport } from "#components/workflows/export-file.ts";
import { useDuplicate } from "#components/workflows/use-duplicate.ts";
import type { Graph } from "#server/workflow/schema.ts";

export type EditorTab = "editor" | "runs";

export interface EditorHeaderProps extends RunButtonProps {
  tab: EditorTab;
  onTabChange: (tab: EditorTab) => void;
}

const TABS: Record<EditorTab, string> = { editor: "Editor", runs: "Runs" };

/** Name, state of saving, the two views, the switch, Publish and Run. */
export function EditorHeader({ tab, onTabChange, run, isReadOnly }: EditorHeaderProps) {
  const session = useSession();
  const { trpc, cache } = useApi();
  const name = useSessionState((state) => state.name);
  const rename = async (next: string) => {
    try {
      await session.change({ name: next });
      void cache.invalidateQueries(trpc.workflows.list.pathFilter());
      return null;
    } catch (error) {
      return errorBodyOf(error).detail;
    }
  };
  return (
    <header className="flex min-h-12 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b bg-surface px-3 py-1.5 max-sm:pl-1">
      <div className="flex min-w-0 flex-1 items-center gap-1.5 max-sm:basis-0">
        <nav aria-label="Breadcrumb" className="flex shrink-0 items-center gap-1 text-14 text-ink-soft">
          <Link href="/workflows" className="inline-flex h-6 items-center rounded-sm hover:text-ink max-sm:size-11 max-sm:justify-center">
            <ChevronLeft aria-hidden className="size-4 sm:hidden" />
            <span className="max-sm:sr-only">Workflows</span>
          </Link>
          <ChevronRight aria-hidden className="size-3.5 text-ink-faint max-sm:hidden" />
        </nav>
        <h1 className="flex min-w-0 max-w-100">
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
            className="h-6 rounded-sm px-2.5 font-semibold text-14 text-ink-soft hover:text-ink aria-selected:bg-raised aria-selected:text-ink aria-selected:shadow-sm pointer-coarse:h-11"
            onClick={() => onTabChange(key)}
          >
            {TABS[key]}
          </button>
        ))}
      </div>
      <div className="flex flex-1 items-center justify-end gap-2 max-sm:basis-full">
        <EditorMenu />
        <HistoryButton isEditorShown={tab === "editor"} />
        <EnabledSwitch isReadOnly={isReadOnly} />
        <PublishControls isReadOnly={isReadOnly} />
        <RunButton run={run} isReadOnly={isReadOnly} />
      </div>
    </header>
  );
}

// Loaded when they are first looked at.
const ErrorWorkflowDialog = loadedOnUse(() =>
  import("#components/workflow-editor/error-workflow-dialog.tsx").then((module) => module.ErrorWorkflowDialog),
);
const ImportDialog = loadedOnUse(() => import("#components/workflows/import-dialog.tsx").then((module) => module.ImportDialog));

/** What can be done with the whole workflow, besides saving and running it. */
export function EditorMenu() {
  const session = useSession();
  const router = useRouter();
  const { canEdit } = useStudio();
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const [isFailureOpen, setIsFailureOpen] = useState(false);
  const [importing, setImporting] = useState<"new" | "into" | null>(null);
  const { exportFile, isPending } = useExport();
  const duplicate = useDuplicate({ onCreated: (copy) => router.push(`/workflows/${copy.id}`) });
  const insert = (graph: Graph): number => {
    const before = editor.getState();
    before.paste(graph, positionBelowAll(before), "import");
    const added = editor.getState().nodes.slice(before.nodes.length);
    const first = added.toSorted((one, other) => one.position.x - other.position.x)[0];
    if (first) ui.getState().reveal(first.id);
    return added.length;
  };
  /** Files and copies are made of what the server has: the canvas goes there first. */
  const whenSent = async (act: () => void) => {
    if (!canEdit || (await session.flush())) act();
    else toast.error("The latest changes are not on the server yet", { description: "Try again in a moment." });
  };
  const exportDraft = () => void whenSent(() => exportFile({ workflow_id: session.workflowId, draft: true }));
  const copy = () => void whenSent(() => duplicate.mutate({ workflow_id: session.workflowId, draft: true }));
  useCommands([
    canEdit && { label: "Duplicate this workflow", icon: Copy, run: copy },
    canEdit && { label: "When a run fails…", icon: Siren, run: () => setIsFailureOpen(true) },
    canEdit && { label: "Import into this workflow…", icon: FileInput, run: () => setImporting("into") },
    { label: "Export as a file", icon: Download, run: exportDraft },
  ]);
  return (
    <>
      <Menu trigger={<IconButton label="More" icon={<Ellipsis />} isPending={isPending || duplicate.isPending} hasTooltip={false} />}>
        <MenuItem icon={<Download />} onSelect={exportDraft}>
          Export as a file
        </MenuItem>
        {canEdit && (
          <>
            <MenuItem icon={<Copy />} onSelect={copy}>
              Duplicate
            </MenuItem>
            <MenuItem icon={<Siren />} onSelect={() => setIsFailureOpen(true)}>
              When a run fails…
            </MenuItem>
            <MenuSeparator />
            <MenuItem icon={<FileUp />} onSelect={() => setImporting("new")}>
              Import a file…
            </MenuItem>
            <MenuItem icon={<FileInput />} onSelect={() => setImporting("into")}>
              Import into this workflow…
            </MenuItem>
            <MenuItem icon={<LayoutTemplate />} onSelect={() => router.push("/workflows/templates")}>
              Templates
            </MenuItem>
          </>
        )}
      </Menu>
      {isFailureOpen && <ErrorWorkflowDialog onClose={() => setIsFailureOpen(false)} />}
      {importing && <ImportDialog onClose={() => setImporting(null)} {...(importing === "into" && { insert })} />}
    </>
  );
}
