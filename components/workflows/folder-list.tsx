"use client";

import { Folder, FolderInput, FolderMinus } from "lucide-react";
import { useState } from "react";
import { useStudio } from "#components/shell/studio-context.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { RowMenu } from "#components/ui/row-menu.tsx";
import { Select } from "#components/ui/select.tsx";
import { folderTree } from "#components/workflows/folders.ts";
import type { WorkflowFacets } from "#server/features/workflows/schema.ts";

const FolderDialog = loadedOnUse(() => import("#components/workflows/filing-dialogs.tsx").then((module) => module.FolderDialog));
const EmptyFolderDialog = loadedOnUse(() => import("#components/workflows/filing-dialogs.tsx").then((module) => module.EmptyFolderDialog));

export interface FolderListProps {
  facets: WorkflowFacets;
  /** The open folder; empty for workflows in none, undefined for all. */
  value: string | undefined;
  onValueChange: (folder: string | undefined) => void;
}

const ALL = "all";
const NONE = "none";

/** The project's folders of workflows: a column where there is room, else a choice. Nothing while there are none. */
export function FolderList({ facets, value, onValueChange }: FolderListProps) {
  const { canEdit } = useStudio();
  const [changed, setChanged] = useState<{ folder: string; as: "move" | "empty" } | null>(null);
  const tree = folderTree(facets.folders);
  if (tree.length === 0) return null;
  const item = (folder: string | undefined, label: string, count: number, depth = 0) => (
    <button
      type="button"
      onClick={() => onValueChange(folder)}
      {...(value === folder && { "aria-current": "true" as const })}
      style={{ paddingLeft: 8 + depth * 14 }}
      className="flex h-8 min-w-0 flex-1 items-center gap-2 rounded-md pr-2 text-left text-14 text-ink-soft hover:bg-hover hover:text-ink aria-[current=true]:bg-press aria-[current=true]:font-semibold aria-[current=true]:text-ink"
    >
      {folder ? <Folder aria-hidden className="size-3.5 shrink-0 text-ink-faint" /> : null}
      <span className="truncate">{label}</span>
      <span className="ml-auto text-12 text-ink-soft tabular">{count}</span>
    </button>
  );
  return (
    <>
      <div className="lg:hidden">
        <Select
          aria-label="Folder"
          value={value === undefined ? ALL : value === "" ? NONE : `/${value}`}
          options={[
            { value: ALL, label: `All folders (${facets.total})` },
            ...tree.map(({ path, count }) => ({ value: `/${path}`, label: `${path} (${count})` })),
            { value: NONE, label: `In no folder (${facets.unfiled})` },
          ]}
          onValueChange={(next) => onValueChange(next === ALL ? undefined : next === NONE ? "" : next.slice(1))}
        />
      </div>
      <nav aria-label="Folders" className="flex w-52 shrink-0 flex-col gap-0.5 max-lg:hidden">
        <div className="flex">{item(undefined, "All workflows", facets.total)}</div>
        {tree.map(({ path, name, depth, count }) => (
          <div key={path} className="group/folder relative flex items-center">
            {item(path, name, count, depth)}
            {canEdit && (
              <RowMenu
                of={`folder ${path}`}
                size="sm"
                className="absolute right-1 bg-paper opacity-0 focus-visible:opacity-100 group-hover/folder:opacity-100 data-[state=open]:opacity-100"
              >
                <MenuItem icon={<FolderInput />} onSelect={() => setChanged({ folder: path, as: "move" })}>
                  Rename or move
                </MenuItem>
                <MenuItem icon={<FolderMinus />} onSelect={() => setChanged({ folder: path, as: "empty" })}>
                  Dissolve
                </MenuItem>
              </RowMenu>
            )}
          </div>
        ))}
        <div className="flex">{item("", "In no folder", facets.unfiled)}</div>
      </nav>
      {changed?.as === "move" && (
        <FolderDialog
          folder={changed.folder}
          known={tree.map(({ path }) => path)}
          onMoved={(to) => value !== undefined && (value === changed.folder || value.startsWith(`${changed.folder}/`)) && onValueChange(to)}
          onClose={() => setChanged(null)}
        />
      )}
      {changed?.as === "empty" && (
        <EmptyFolderDialog folder={changed.folder} onDone={() => onValueChange(undefined)} onClose={() => setChanged(null)} />
      )}
    </>
  );
}
