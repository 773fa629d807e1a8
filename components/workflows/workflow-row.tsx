"use client";

import { useMutation } from "@tanstack/react-query";
import { Copy, Download, Ellipsis, Pencil, Trash2 } from "lucide-react";
import { TriggerLabel } from "#components/runs/trigger-label.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Link } from "#components/ui/link.tsx";
import { Menu, MenuItem, MenuSeparator } from "#components/ui/menu.tsx";
import { StatusIcon } from "#components/ui/status.tsx";
import { Switch } from "#components/ui/switch.tsx";
import { TableCell, TableRow } from "#components/ui/table.tsx";
import { Time } from "#components/ui/time.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { useExport } from "#components/workflows/export-file.ts";
import { useDuplicate } from "#components/workflows/use-duplicate.ts";
import type { WorkflowSummary } from "#server/features/workflows/schema.ts";
import type { ExecutionSummary } from "#server/runs/schema.ts";

export interface WorkflowRowProps {
  workflow: WorkflowSummary;
  lastRun: ExecutionSummary | undefined;
  onRename: () => void;
  onDelete: () => void;
}

export function WorkflowRow({ workflow, lastRun, onRename, onDelete }: WorkflowRowProps) {
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
    <TableRow className="relative">
      <TableCell>
        <Link href={`/workflows/${workflow.id}`} className="font-medium after:absolute after:inset-0">
          {workflow.name}
        </Link>
        {workflow.description && <span className="block max-w-96 truncate text-12 text-ink-faint">{workflow.description}</span>}
      </TableCell>
      <TableCell className="max-md:hidden">
        <TriggerLabel kind={workflow.trigger} />
      </TableCell>
      <TableCell className="whitespace-nowrap">
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
      <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">
        <Time value={workflow.updated_at} />
      </TableCell>
      <TableCell className="max-md:hidden">
        <Badge className="tabular">v{workflow.version}</Badge>
      </TableCell>
      <TableCell className="relative z-1">
        <span className="flex items-center gap-3">
          <Switch
            label={`${workflow.name} enabled`}
            checked={isOn}
            disabled={!canEdit}
            onCheckedChange={(enabled) => enable.mutate({ workflow_id: workflow.id, enabled })}
          />
          <Menu
            trigger={
              <IconButton
                label={`Actions of ${workflow.name}`}
                icon={<Ellipsis />}
                isPending={duplicate.isPending || isExporting}
                hasTooltip={false}
                className="ml-auto"
              />
            }
          >
            {canEdit && (
              <>
                <MenuItem icon={<Pencil />} onSelect={onRename}>
                  Rename
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
                <MenuItem icon={<Trash2 />} tone="danger" onSelect={onDelete}>
                  Delete
                </MenuItem>
              </>
            )}
          </Menu>
        </span>
      </TableCell>
    </TableRow>
  );
}
