import type { WorkflowFacets } from "#server/features/workflows/schema.ts";

/** A folder as the tree shows it. */
export interface FolderEntry {
  path: string;
  name: string;
  /** From 0. */
  depth: number;
  /** Workflows in it and in the folders within it. */
  count: number;
}

/** Folders in the order of a tree, with those that have nothing but other folders in them. */
export function folderTree(folders: WorkflowFacets["folders"]): FolderEntry[] {
  const entries = new Map<string, FolderEntry>();
  for (const { folder, count } of folders) {
    const names = folder.split("/");
    for (const [depth, name] of names.entries()) {
      const path = names.slice(0, depth + 1).join("/");
      const entry = entries.get(path) ?? { path, name, depth, count: 0 };
      entry.count += count;
      entries.set(path, entry);
    }
  }
  // By their parts, so that what is within a folder comes right after it.
  const parts = (path: string) => path.toLowerCase().replaceAll("/", "\u0000");
  return [...entries.values()].sort((a, b) => (parts(a.path) < parts(b.path) ? -1 : 1));
}
