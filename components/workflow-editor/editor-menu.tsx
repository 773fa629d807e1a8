"use client";

import { Copy, Download, Ellipsis, FileInput, FileUp, LayoutTemplate } from "lucide-react";
import dynamic from "next/dynamic";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { toast } from "sonner";
import { useStudio } from "#components/shell/studio-context.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Menu, MenuItem, MenuSeparator } from "#components/ui/menu.tsx";
import { placeBelow } from "#components/workflow-editor/canvas/document/edits.ts";
import { useCanvasUiStore, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { useSession } from "#components/workflow-editor/session/session-context.tsx";
import { useExport } from "#components/workflows/export-file.ts";
import { useDuplicate } from "#components/workflows/use-duplicate.ts";
import type { Graph } from "#server/workflow/schema.ts";

// Loaded when it is first looked at.
const ImportDialog = dynamic(() => import("#components/workflows/import-dialog.tsx").then((module) => module.ImportDialog));

/** What can be done with the whole workflow, besides saving and running it. */
export function EditorMenu() {
  const session = useSession();
  const router = useRouter();
  const { canEdit } = useStudio();
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const [importing, setImporting] = useState<"new" | "into" | null>(null);
  const { exportFile, isPending } = useExport();
  const duplicate = useDuplicate({ onCreated: (copy) => router.push(`/workflows/${copy.id}`) });
  const insert = (graph: Graph): number => {
    const before = editor.getState();
    before.paste(graph, placeBelow(before), "import");
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
  return (
    <>
      <Menu trigger={<IconButton label="More" icon={<Ellipsis />} isPending={isPending || duplicate.isPending} hasTooltip={false} />}>
        <MenuItem icon={<Download />} onSelect={() => void whenSent(() => exportFile({ workflow_id: session.workflowId, draft: true }))}>
          Export as a file
        </MenuItem>
        {canEdit && (
          <>
            <MenuItem
              icon={<Copy />}
              onSelect={() => void whenSent(() => duplicate.mutate({ workflow_id: session.workflowId, draft: true }))}
            >
              Duplicate
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
      {importing && <ImportDialog open onOpenChange={(open) => !open && setImporting(null)} {...(importing === "into" && { insert })} />}
    </>
  );
}
