"use client";

import type { OperationGroup } from "#components/api-reference/openapi.ts";
import { SearchField } from "#components/ui/input.tsx";

export const slugOf = (tag: string): string => tag.toLowerCase().replaceAll(" ", "-");

export interface ReferenceNavigationProps {
  /** What the search has left. */
  groups: readonly OperationGroup[];
  search: string;
  onSearch: (search: string) => void;
}

/** Search and the tags; while one searches, the operations that were found. */
export function ReferenceNavigation({ groups, search, onSearch }: ReferenceNavigationProps) {
  const isSearching = search.trim() !== "";
  const count = groups.reduce((sum, { operations }) => sum + operations.length, 0);
  return (
    <div className="flex min-w-0 flex-col gap-3 lg:sticky lg:top-18 lg:max-h-[calc(100dvh-5.5rem)] lg:overflow-y-auto lg:pr-2 lg:pb-4">
      <SearchField label="Search operations" value={search} onValueChange={onSearch} />
      <p role="status" className={isSearching ? "text-12 text-ink-soft" : "sr-only"}>
        {isSearching ? `${count} ${count === 1 ? "operation" : "operations"} found` : ""}
      </p>
      <nav aria-label="Resources" className="flex flex-wrap gap-x-4 gap-y-1 lg:flex-col lg:gap-0.5">
        {groups.map(({ tag, operations }) => (
          <a
            key={tag}
            href={`#${slugOf(tag)}`}
            className="inline-flex min-h-6 items-center justify-between max-lg:pointer-coarse:min-h-11 gap-2 text-14 text-thread-text hover:underline lg:min-h-7 lg:rounded-md lg:px-2 lg:text-ink-soft lg:hover:bg-hover lg:hover:text-ink lg:hover:no-underline"
          >
            {tag}
            <span aria-hidden className="hidden text-12 text-ink-faint tabular lg:inline">
              {operations.length}
            </span>
          </a>
        ))}
        <a
          href="#shapes"
          className="inline-flex min-h-6 items-center text-14 text-thread-text hover:underline lg:min-h-7 lg:rounded-md lg:px-2 lg:text-ink-soft lg:hover:bg-hover lg:hover:text-ink lg:hover:no-underline"
        >
          Shapes
        </a>
      </nav>
    </div>
  );
}
