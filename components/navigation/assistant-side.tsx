"use client";

import { useQuery } from "@tanstack/react-query";
import { Sparkles } from "lucide-react";
import { usePathname } from "next/navigation";
import { useEffect, useRef } from "react";
import { keepCurrentThread } from "#components/assistant/use-current-thread.ts";
import { ASSISTANT_PAGE, useAssistant, useAssistantState } from "#components/shell/assistant.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useApi } from "#components/trpc.tsx";
import { IconButton, type IconButtonProps } from "#components/ui/icon-button.tsx";
import { MOD } from "#components/ui/kbd.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { ThreadSummary } from "#server/features/assistant/schema.ts";

// Loaded when it is first opened.
const AssistantPanel = loadedOnUse(() => import("#components/assistant/assistant-panel.tsx").then((module) => module.AssistantPanel));

/** The assistant right of every page but its own, which fills a phone; ⌘/Ctrl+J opens and closes it. */
export function AssistantSide() {
  const { isOpen, open, close, makeWay } = useAssistant();
  const pathname = usePathname();
  const isOnItsPage = pathname === ASSISTANT_PAGE;
  const before = useRef(pathname);
  useEffect(() => {
    if (before.current === pathname) return;
    before.current = pathname;
    makeWay();
  }, [pathname, makeWay]);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "j" || !(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey) return;
      event.preventDefault();
      if (isOpen && !isOnItsPage) close();
      else open();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [isOpen, isOnItsPage, open, close]);
  useUnseenWork(!isOpen && !isOnItsPage);
  if (isOnItsPage) return null;
  return (
    <aside
      aria-label="Assistant"
      className="relative hidden w-[min(var(--layout-assistant,400px),50vw)] shrink-0 flex-col border-l bg-surface in-data-[assistant=open]:flex in-data-wall:hidden print:hidden max-md:fixed max-md:inset-0 max-md:z-30 max-md:w-full max-md:border-l-0"
    >
      {isOpen && <AssistantPanel />}
    </aside>
  );
}

/** Threads that are looked at, and how often while the assistant works in one of them, in milliseconds. */
const LATEST = 5;
const WATCH_MS = 3000;

/** What the assistant does while nobody looks at it: its proposals come to the workflow that is open; that it has ended or waits is told. */
function useUnseenWork(isUnseen: boolean) {
  const { trpc, cache } = useApi();
  const { open } = useAssistant();
  const { atWork } = useAssistantState();
  const { project } = useStudio();
  const { data } = useQuery(
    trpc.assistant.threads.queryOptions(
      { per_page: LATEST },
      { enabled: isUnseen, refetchInterval: ({ state }) => (state.data?.items.some(isAtWork) ? WATCH_MS : false) },
    ),
  );
  const known = useRef(data);
  const working = useRef<readonly string[]>([]);
  useEffect(() => {
    // What somebody has seen is no news; what they saw begin, and not end, will be.
    if (!isUnseen) {
      working.current = atWork === null ? [] : [atWork];
      known.current = data;
      return;
    }
    if (!data || data === known.current) return;
    const isFirst = known.current === undefined;
    known.current = data;
    const rested = data.items.filter((thread) => !isAtWork(thread) && working.current.includes(thread.id));
    working.current = data.items.filter(isAtWork).map(({ id }) => id);
    if (isFirst && rested.length === 0) return;
    // Whatever has happened in a thread, something may have been proposed in it.
    void cache.invalidateQueries(trpc.assistant.proposals.pathFilter());
    for (const { id, title, is_waiting } of rested) {
      const show = () => {
        keepCurrentThread(project.id, id);
        open();
      };
      const words = is_waiting ? `The assistant waits for you in “${title}”` : `The assistant is done with “${title}”`;
      toast.message(words, { id: `assistant ${id}`, action: { label: "Show", onClick: show } });
    }
  }, [isUnseen, atWork, data, project.id, open, trpc, cache]);
}

const isAtWork = ({ is_working, is_waiting }: ThreadSummary): boolean => is_working && !is_waiting;

/** Opens the assistant, and closes it, for those who do not know its keys. */
export function AssistantButton({ className, size = "md" }: Pick<IconButtonProps, "className" | "size">) {
  const { isOpen, open, close } = useAssistant();
  if (usePathname() === ASSISTANT_PAGE) return null;
  return (
    <IconButton
      label="Ask the assistant"
      icon={<Sparkles />}
      isPressed={isOpen}
      shortcut={[MOD, "J"]}
      aria-keyshortcuts="Control+J Meta+J"
      size={size}
      {...(className && { className })}
      onClick={() => (isOpen ? close() : open())}
    />
  );
}
