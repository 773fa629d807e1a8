"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { ChevronDown, Pencil, Sparkles, SquarePen, Trash2 } from "lucide-react";
import { useState } from "react";
import { useApi, useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { Popover } from "#components/ui/popover.tsx";
import { RowMenu } from "#components/ui/row-menu.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { Time } from "#components/ui/time.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { ThreadSummary } from "#server/features/assistant/schema.ts";

const ConfirmDialog = loadedOnUse(() => import("#components/ui/confirm-dialog.tsx").then((module) => module.ConfirmDialog));
const RenameThreadDialog = loadedOnUse(() =>
  import("#components/assistant/rename-thread-dialog.tsx").then((module) => module.RenameThreadDialog),
);

export interface ThreadListProps {
  current: string | null;
  /** null: a new one. */
  onOpen: (threadId: string | null) => void;
}

const PER_PAGE = 50;
/** How often a list is asked for again in which something is being worked on, in milliseconds. */
const WATCH_MS = 5000;

/** My threads in this project, the latest first. */
export function ThreadList({ current, onOpen }: ThreadListProps) {
  const trpc = useTRPC();
  const [count, setCount] = useState(PER_PAGE);
  const threads = useQuery(
    trpc.assistant.threads.queryOptions(
      { per_page: count },
      {
        placeholderData: (before) => before,
        refetchInterval: ({ state }) => (state.data?.items.some(({ is_working }) => is_working) ? WATCH_MS : false),
      },
    ),
  );
  const [renamed, setRenamed] = useState<ThreadSummary | null>(null);
  const [deleted, setDeleted] = useState<ThreadSummary | null>(null);
  if (threads.isPending) return <Skeleton className="m-2 h-24" />;
  const { items = [], total = 0 } = threads.data ?? {};
  return (
    <>
      <LoadFailure query={threads} />
      {threads.data && items.length === 0 && <p className="px-4 py-2 text-14 text-ink-soft">Nothing yet.</p>}
      <ul aria-label="Threads" className="flex flex-col gap-0.5 p-1.5">
        {items.map((thread) => (
          <li key={thread.id} className="group relative flex items-center">
            <button
              type="button"
              {...(thread.id === current && { "aria-current": "true" as const })}
              onClick={() => onOpen(thread.id)}
              className="flex min-h-11 min-w-0 flex-1 flex-col justify-center rounded-md py-1 pr-9 pl-2.5 text-left transition-colors hover:bg-hover aria-[current=true]:bg-press"
            >
              <span className="w-full truncate font-semibold text-14 text-ink">{titleOf(thread)}</span>
              <span className={cn("flex items-center gap-1.5 text-12", thread.id === current ? "text-ink-soft" : "text-ink-faint")}>
                {thread.is_waiting ? (
                  <span className="font-semibold text-waiting">Waits for you</span>
                ) : (
                  thread.is_working && <span className="font-semibold text-running">Working</span>
                )}
                <Time value={thread.updated_at} />
              </span>
            </button>
            <span
              className={cn(
                "absolute right-1",
                "opacity-0 focus-within:opacity-100 group-hover:opacity-100 has-data-[state=open]:opacity-100 pointer-coarse:opacity-100",
              )}
            >
              <RowMenu of={titleOf(thread)}>
                <MenuItem icon={<Pencil />} onSelect={() => setRenamed(thread)}>
                  Rename
                </MenuItem>
                <MenuItem icon={<Trash2 />} tone="danger" onSelect={() => setDeleted(thread)}>
                  Delete
                </MenuItem>
              </RowMenu>
            </span>
          </li>
        ))}
      </ul>
      {items.length < total && (
        <Button size="sm" variant="ghost" className="mx-2 mb-2 self-start" onClick={() => setCount(count + PER_PAGE)}>
          Show more
        </Button>
      )}
      {renamed && <RenameThreadDialog thread={renamed} onClose={() => setRenamed(null)} />}
      {deleted && (
        <DeleteDialog thread={deleted} onClose={() => setDeleted(null)} onDeleted={() => deleted.id === current && onOpen(null)} />
      )}
    </>
  );
}

const titleOf = ({ title }: Pick<ThreadSummary, "title">): string => title || "New thread";

/** The same behind the name of the thread that is open, where there is no room for a list, and a button that begins one. */
export function ThreadMenu({ current, onOpen, heading: Heading }: ThreadListProps & { heading: "h1" | "h2" }) {
  const trpc = useTRPC();
  const [isOpen, setIsOpen] = useState(false);
  const thread = useQuery(
    trpc.assistant.thread.queryOptions({ thread_id: current ?? "" }, { enabled: current !== null, refetchOnWindowFocus: false }),
  );
  const open = (threadId: string | null) => {
    onOpen(threadId);
    setIsOpen(false);
  };
  return (
    <>
      <Heading className="flex min-w-0 flex-1 font-semibold text-14">
        <Popover
          label="Threads"
          align="start"
          open={isOpen}
          onOpenChange={setIsOpen}
          trigger={
            <button
              type="button"
              className="flex h-7 min-w-0 items-center gap-1.5 rounded-md px-2 hover:bg-hover data-[state=open]:bg-press pointer-coarse:h-11"
            >
              <Sparkles aria-hidden className="size-3.5 shrink-0 text-thread-text" />
              <span className="sr-only">Threads: </span>
              <span className="min-w-0 truncate">{titleOf({ title: (current !== null && thread.data?.title) || "" })}</span>
              <ChevronDown aria-hidden className="size-3.5 shrink-0 text-ink-faint" />
            </button>
          }
          className="max-h-[60dvh] w-80 overflow-y-auto p-0"
        >
          <ThreadList current={current} onOpen={open} />
        </Popover>
      </Heading>
      <IconButton label="New thread" icon={<SquarePen />} onClick={() => open(null)} className="pointer-coarse:size-11" />
    </>
  );
}

function DeleteDialog({ thread, onClose, onDeleted }: { thread: ThreadSummary; onClose: () => void; onDeleted: () => void }) {
  const { trpc, cache } = useApi();
  const remove = useMutation(trpc.assistant.deleteThread.mutationOptions());
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Delete “${titleOf(thread)}”?`}
      confirmLabel="Delete"
      onConfirm={async () => {
        await remove.mutateAsync({ thread_id: thread.id });
        onDeleted();
        toast.success("Thread deleted");
        await cache.invalidateQueries(trpc.assistant.threads.pathFilter());
      }}
    >
      What was said in it is gone for good. What was built or run stays.
    </ConfirmDialog>
  );
}
