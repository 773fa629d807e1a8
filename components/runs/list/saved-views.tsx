"use client";

import { useQuery } from "@tanstack/react-query";
import { Bookmark, Trash2 } from "lucide-react";
import { type FormEvent, useState } from "react";
import { filterOf, isFiltered, type RunFilter, textOfFilter } from "#components/runs/list/filter.ts";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Input } from "#components/ui/input.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { Popover } from "#components/ui/popover.tsx";
import { RowMenu } from "#components/ui/row-menu.tsx";
import { toast } from "#components/ui/toaster.tsx";

const LONGEST_NAME = 60;

/** Filters that one has named, for oneself: a click takes them, and those on the page can be kept. */
export function SavedViews({ filter, onChoose }: { filter: RunFilter; onChoose: (filter: RunFilter) => void }) {
  const { trpc, client, cache } = useApi();
  const [isOpen, setIsOpen] = useState(false);
  const [name, setName] = useState("");
  const views = useQuery(trpc.executions.views.queryOptions({}, { staleTime: 60_000 }));
  const text = textOfFilter(filter);
  const current = views.data?.find(({ query }) => textOfFilter(filterOf(new URLSearchParams(query))) === text);
  const change = async (work: Promise<unknown>) => {
    try {
      await work;
      await cache.invalidateQueries(trpc.executions.views.pathFilter());
      return true;
    } catch (error) {
      toast.error(errorBodyOf(error).detail);
      return false;
    }
  };
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() && (await change(client.executions.saveView.mutate({ name: name.trim(), query: text })))) {
      setName("");
      setIsOpen(false);
    }
  };
  return (
    <Popover
      label="Views"
      open={isOpen}
      onOpenChange={setIsOpen}
      className="flex w-72 flex-col gap-2 p-2"
      trigger={
        <Button variant="ghost" icon={<Bookmark />}>
          <span className="max-w-28 truncate">{current?.name ?? "Views"}</span>
        </Button>
      }
    >
      {views.data?.length === 0 && (
        <p className="px-1 text-12 text-ink-soft">A view keeps the filters of this page under a name, for you.</p>
      )}
      {views.data && views.data.length > 0 && (
        <ul className="flex max-h-64 flex-col overflow-y-auto">
          {views.data.map((view) => (
            <li key={view.id} className="flex items-center gap-1">
              <button
                type="button"
                aria-pressed={view.id === current?.id}
                className="min-h-8 min-w-0 flex-1 truncate rounded-md px-2 text-left hover:bg-hover aria-pressed:font-semibold pointer-coarse:min-h-11"
                onClick={() => {
                  onChoose(filterOf(new URLSearchParams(view.query)));
                  setIsOpen(false);
                }}
              >
                {view.name}
              </button>
              <RowMenu of={view.name}>
                <MenuItem
                  icon={<Trash2 />}
                  tone="danger"
                  onSelect={() => void change(client.executions.deleteView.mutate({ view_id: view.id }))}
                >
                  Delete
                </MenuItem>
              </RowMenu>
            </li>
          ))}
        </ul>
      )}
      {isFiltered(filter) && !current && (
        <form onSubmit={(event) => void save(event)} className="flex gap-1.5 border-t pt-2">
          <Input
            aria-label="Name of the view"
            placeholder="Keep these filters as…"
            maxLength={LONGEST_NAME}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <Button type="submit" disabled={name.trim() === ""}>
            Save
          </Button>
        </form>
      )}
    </Popover>
  );
}
