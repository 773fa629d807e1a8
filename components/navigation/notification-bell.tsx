"use client";

import { Bell } from "lucide-react";
import { useState } from "react";
import { useNotifications } from "#components/shell/use-notifications.ts";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { cn } from "#components/ui/cn.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Link } from "#components/ui/link.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Popover } from "#components/ui/popover.tsx";
import { Time } from "#components/ui/time.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { Notification } from "#server/features/notifications/schema.ts";

/** What the signed-in person was told of, with the count of what is unread; a click leads there and marks it as read. */
export function NotificationBell({ className, size = "md" }: { className?: string; size?: "md" | "lg" }) {
  const { trpc, client, cache } = useApi();
  const [isOpen, setIsOpen] = useState(false);
  const list = useNotifications();
  const unread = list.data?.unread ?? 0;
  const markRead = async (ids?: string[]) => {
    try {
      await client.notifications.markRead.mutate(ids ? { ids } : {});
    } catch (error) {
      toast.error(errorBodyOf(error).detail);
    }
    void cache.invalidateQueries(trpc.notifications.pathFilter());
  };
  return (
    <Popover
      label="Notifications"
      align="start"
      open={isOpen}
      onOpenChange={(next) => {
        setIsOpen(next);
        if (next) void list.refetch();
      }}
      className="w-84 max-w-[calc(100vw-1rem)] p-0"
      trigger={
        <IconButton
          label={unread > 0 ? `Notifications, ${unread} unread` : "Notifications"}
          hasTooltip={false}
          size={size}
          className={cn("relative", className)}
          icon={
            <>
              <Bell />
              {unread > 0 && (
                <span
                  aria-hidden
                  className="absolute top-0 right-0 grid h-4 min-w-4 place-items-center rounded-full bg-waiting px-1 font-semibold text-12 text-paper leading-none tabular"
                >
                  {unread > 99 ? "99+" : unread}
                </span>
              )}
            </>
          }
        />
      }
    >
      <div className="flex h-10 items-center justify-between gap-3 border-b pr-1.5 pl-3">
        <h2 className="font-semibold text-16">Notifications</h2>
        {unread > 0 && (
          <button type="button" className="h-7 rounded-md px-1.5 text-12 text-thread-text hover:bg-hover" onClick={() => void markRead()}>
            Mark all read
          </button>
        )}
      </div>
      {list.isError && !list.data ? (
        <div className="p-3">
          <LoadFailure query={list} />
        </div>
      ) : list.data && list.data.items.length === 0 ? (
        <p className="p-3 text-14 text-ink-soft">
          Nothing yet. When a run waits for a decision or fails, or a schedule is missed, you are told here.
        </p>
      ) : (
        <ul className="max-h-[min(60dvh,26rem)] divide-y overflow-y-auto">
          {list.data?.items.map((item) => (
            <NotificationRow
              key={item.id}
              item={item}
              onOpen={() => {
                setIsOpen(false);
                if (item.read_at === null) void markRead([item.id]);
              }}
            />
          ))}
        </ul>
      )}
    </Popover>
  );
}

const KINDS: Record<Notification["kind"], (isUnread: boolean) => string> = {
  review: (isUnread) => (isUnread ? "Waits for a decision" : "Asked for a decision"),
  run_failed: () => "Failed",
  schedule_missed: () => "Missed",
  workflow_disabled: () => "Disabled",
  emails_held: () => "Emails held",
  budget: () => "Budget",
};

function NotificationRow({ item, onOpen }: { item: Notification; onOpen: () => void }) {
  const isUnread = item.read_at === null;
  return (
    <li>
      <Link
        href={item.link}
        onClick={onOpen}
        className="flex min-h-11 gap-2.5 px-3 py-2 hover:bg-hover focus-visible:outline-offset-[-2px]"
      >
        <span
          aria-hidden
          className={cn(
            "mt-1.5 size-2 shrink-0 rounded-full",
            !isUnread ? "bg-transparent" : item.kind === "run_failed" ? "bg-failed" : "bg-waiting",
          )}
        />
        <span className="min-w-0 flex-1">
          <span className={cn("line-clamp-2 break-words text-14", isUnread ? "font-semibold text-ink" : "text-ink-soft")}>
            {isUnread && <span className="sr-only">Unread: </span>}
            {item.title}
          </span>
          <span className="text-12 text-ink-faint">
            {KINDS[item.kind](isUnread)}, <Time value={item.created_at} />
          </span>
        </span>
      </Link>
    </li>
  );
}
