"use client";

import { useMutation } from "@tanstack/react-query";
import { Copy, Download, Folder, FolderInput, Pencil, Tag, Trash2 } from "lucide-react";
import { TriggerLabel } from "#components/runs/trigger-label.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Checkbox } from "#components/ui/checkbox.tsx";
import { cn } from "#components/ui/cn.ts";
import { Link } from "#components/ui/link.tsx";
import { Marked } from "#components/ui/marked.tsx";
import { MenuItem, MenuSeparator } from "#components/ui/menu.tsx";
import { RowMenu } from "#components/ui/row-menu.tsx";
import { StatusIcon } from "#components/ui/status.tsx";
import { Switch } from "#components/ui/switch.tsx";
import { selectColumn, TableCell, TableRow } from "#components/ui/table.tsx";
import { Time } from "#components/ui/time.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { useExport } from "#components/workflows/export-file.ts";
import { useDuplicate } from "#components/workflows/use-duplicate.ts";
import type { ListedWorkflow } from "#server/features/workflows/schema.ts";

export interface WorkflowRowProps {
  workflow: ListedWorkflow;
  /** What the list was searched for, to be marked. */
  q: string;
  /** The folder that is open: a row says where in it the workflow is. */
  folder: string | undefined;
  isSelected: boolean;
  onSelectedChange: (isSelected: boolean) => void;
  onTag: (tag: string) => void;
  onDialog: (dialog: "rename" | "tags" | "move" | "delete") => void;
}

/** Where a workflow is, as seen from the folder that is open; nothing in that folder itself. */
const within = (path: string | null, open: string | undefined): string | null =>
  path === null || path === open ? null : open ? path.slice(open.length + 1) : path;

export function WorkflowRow({ workflow, q, folder, isSelected, onSelectedChange, onTag, onDialog }: WorkflowRowProps) {
  const lastRun = workflow.last_run;
  const place = within(workflow.folder, folder);
  const { trpc, cache } = useApi();
  const { canEdit } = useStudio();
  const refresh = () => cache.invalidateQueries(trpc.workflows.pathFilter());
  const enable = useMutation(
    trpc.workflows.update.mutationOptions({
      onError: (error) => toast.error(`“${workflow.name}” was not changed`, { description: errorBodyOf(error).detail }),
      onSettled: refresh,
    }),
  );
  const duplicate = useDuplicate();
  const { exportFile, isPending: isExporting } = useExport();
  const isOn = enable.isPending ? enable.variables.enabled === true : workflow.enabled;

  return (
    <TableRow className={cn("relative", isSelected && "bg-thread-soft/50")}>
      {canEdit && (
        <TableCell className={selectColumn}>
          <Checkbox
            label={<span className="sr-only">Select {workflow.name}</span>}
            checked={isSelected}
            onCheckedChange={onSelectedChange}
          />
        </TableCell>
      )}
      <TableCell className="max-w-0">
        <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
          <Link href={`/workflows/${workflow.id}`} className="min-w-0 truncate font-semibold after:absolute after:inset-0">
            <Marked text={workflow.name} q={q} />
          </Link>
          {place !== null && (
            <span className="inline-flex min-w-0 items-center gap-1 text-12 text-ink-faint">
              <Folder aria-hidden className="size-3 shrink-0" />
              <span className="truncate">
                <Marked text={place} q={q} />
              </span>
            </span>
          )}
          {workflow.tags.map((tag) => (
            <button
              key={tag}
              type="button"
              aria-label={`Only with tag ${tag}`}
              onClick={() => onTag(tag)}
              className="relative z-1 -my-0.5 inline-flex h-6 max-w-full items-center truncate rounded-sm bg-sunken px-1.5 text-12 text-ink-soft hover:bg-press hover:text-ink"
            >
              <Marked text={tag} q={q} />
            </button>
          ))}
        </span>
        {workflow.description && (
          <span className="block truncate text-12 text-ink-faint">
            <Marked text={workflow.description} q={q} />
          </span>
        )}
      </TableCell>
      <TableCell className="max-md:hidden">
        <TriggerLabel kind={workflow.trigger} />
      </TableCell>
      <TableCell className="whitespace-nowrap max-sm:hidden">
        {lastRun && (
          <Link
            href={`/runs/${lastRun.id}`}
            className="relative z-1 inline-flex min-h-6 items-center gap-1.5 text-ink-soft hover:text-ink hover:underline"
          >
            <StatusIcon status={lastRun.status} />
            <Time value={lastRun.created_at} />
          </Link>
        )}
      </TableCell>
      <TableCell className="whitespace-nowrap text-ink-soft max-lg:hidden">
        <Time value={workflow.updated_at} />
      </TableCell>
      <TableCell className="max-lg:hidden">
        <Badge className="tabular">v{workflow.version}</Badge>
      </TableCell>
      <TableCell className="relative z-1">
        <span className="flex items-center gap-3">
          <Switch
            label={`${workflow.name} on`}
            checked={isOn}
            disabled={!canEdit}
            onCheckedChange={(enabled) => enable.mutate({ workflow_id: workflow.id, enabled })}
          />
          <RowMenu of={workflow.name} isPending={duplicate.isPending || isExporting} className="ml-auto">
            {canEdit && (
              <>
                <MenuItem icon={<Pencil />} onSelect={() => onDialog("rename")}>
                  Rename
                </MenuItem>
                <MenuItem icon={<Tag />} onSelect={() => onDialog("tags")}>
                  Tags
                </MenuItem>
                <MenuItem icon={<FolderInput />} onSelect={() => onDialog("move")}>
                  Move to a folder
                </MenuItem>
                <MenuItem icon={<Copy />} onSelect={() => duplicate.mutate({ workflow_id: workflow.id })}>
                  Duplicate
                </MenuItem>
              </>
            )}
            <MenuItem icon={<Download />} onSelect={() => exportFile({ workflow_id: workflow.id })}>
              Export as a file
            </MenuItem>
            {canEdit && (
              <>
                <MenuSeparator />
                <MenuItem icon={<Trash2 />} tone="danger" onSelect={() => onDialog("delete")}>
                  Delete
                </MenuItem>
              </>
            )}
          </RowMenu>
        </span>
      </TableCell>
    </TableRow>
  );
}
