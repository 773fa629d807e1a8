"use client";

import { FolderInput, Power, PowerOff, Tag, Trash2, X } from "lucide-react";
import { useState } from "react";
import { formatCount, plural } from "#components/format.ts";
import { Button } from "#components/ui/button.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import type { BulkChange } from "#components/workflows/use-bulk.ts";
import type { BulkResult, ListedWorkflow } from "#server/features/workflows/schema.ts";

const MoveDialog = loadedOnUse(() => import("#components/workflows/filing-dialogs.tsx").then((module) => module.MoveDialog));
const TagDialog = loadedOnUse(() => import("#components/workflows/filing-dialogs.tsx").then((module) => module.TagDialog));

interface SelectionBarProps {
  /** The chosen workflows of this page. */
  workflows: readonly ListedWorkflow[];
  /** How many are chosen, on other pages too. */
  count: number;
  /** How many the list has in all, when more can be chosen at once than are. */
  total: number | undefined;
  onSelectAll: () => void;
  onClear: () => void;
  isPending: boolean;
  tryBulk: (change: BulkChange) => void;
  bulk: (change: BulkChange) => Promise<BulkResult>;
}

/** What can be done with the workflows that are chosen. */
export function SelectionBar({ workflows, count, total, onSelectAll, onClear, isPending, tryBulk, bulk }: SelectionBarProps) {
  const [dialog, setDialog] = useState<"tags" | "move" | "delete" | null>(null);
  const close = () => setDialog(null);
  const filing = { workflows, count, bulk, onClose: close };
  return (
    <section
      aria-label="Selected workflows"
      className="sticky top-2 z-10 flex flex-wrap items-center gap-2 rounded-lg border border-line-strong bg-raised px-3 py-2 shadow-md"
    >
      <span role="status" className="font-semibold text-14 tabular">
        {formatCount(count)} selected
      </span>
      {total !== undefined && (
        <button type="button" onClick={onSelectAll} className="min-h-6 rounded-sm text-14 text-thread-text hover:underline">
          Select all {formatCount(total)}
        </button>
      )}
      <span className="ml-auto flex flex-wrap items-center gap-1.5 max-sm:ml-0">
        <Button size="sm" icon={<Power />} disabled={isPending} onClick={() => tryBulk({ action: "enable" })}>
          Switch on
        </Button>
        <Button size="sm" icon={<PowerOff />} disabled={isPending} onClick={() => tryBulk({ action: "disable" })}>
          Switch off
        </Button>
        <Button size="sm" icon={<Tag />} disabled={isPending} onClick={() => setDialog("tags")}>
          Tags
        </Button>
        <Button size="sm" icon={<FolderInput />} disabled={isPending} onClick={() => setDialog("move")}>
          Move
        </Button>
        <Button size="sm" variant="danger" icon={<Trash2 />} disabled={isPending} onClick={() => setDialog("delete")}>
          Delete
        </Button>
        <IconButton label="Clear the selection" icon={<X />} onClick={onClear} />
      </span>
      {dialog === "tags" && <TagDialog {...filing} />}
      {dialog === "move" && <MoveDialog {...filing} />}
      {dialog === "delete" && (
        <ConfirmDialog
          title={count === 1 && workflows[0] ? `Delete workflow “${workflows[0].name}”?` : `Delete ${plural(count, "workflow")}?`}
          confirmLabel={`Delete ${plural(count, "workflow")}`}
          onClose={close}
          onConfirm={async () => {
            await bulk({ action: "delete" });
            onClear();
          }}
        >
          Graphs and versions are lost for good; past runs stay. What another workflow runs or a canvas shows is not deleted: you are told
          which, and by what.
        </ConfirmDialog>
      )}
    </section>
  );
}
