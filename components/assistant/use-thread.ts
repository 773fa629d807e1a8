"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { EMPTY_THREAD, isAtWork, isUnderWay, type ThreadState, threadOf } from "#components/assistant/thread-of.ts";
import { followLine, type LineState } from "#components/event-line.ts";
import { errorBodyOf, isMissing, useApi } from "#components/trpc.tsx";
import type { MessageContext, MessageMode, ThreadEvent } from "#server/features/assistant/schema.ts";

/** Events that come within this time are drawn together, in milliseconds. A timer, since a tab that is not seen draws no frames. */
const TOGETHER_MS = 40;

/** A thread on the screen: replayed from its first event, then followed. */
export interface LiveThread extends Pick<ThreadState, "turns" | "seq"> {
  /** All that was there when it was opened is drawn; what comes now is new. */
  isCurrent: boolean;
  isWorking: boolean;
  line: LineState;
}

interface Followed extends ThreadState {
  threadId: string | null;
  /** Where the replay ends; later answers about the thread say more, and must not begin another. */
  replayed: number | null;
  line: LineState;
}

const begin = (threadId: string | null): Followed => ({ ...EMPTY_THREAD, threadId, replayed: null, line: "connecting" });

/** What is drawn of a thread that cannot be read. */
const NO_THREAD: LiveThread = { turns: [], seq: 0, line: "closed", isCurrent: false, isWorking: false };

const isVisible = () => !document.hidden;

function onVisibility(listener: () => void): () => void {
  document.addEventListener("visibilitychange", listener);
  return () => document.removeEventListener("visibilitychange", listener);
}

/**
 * A thread as it stands and goes on, or why it cannot be shown.
 * @param threadId null for one that is not begun
 */
export function useThread(threadId: string | null) {
  const { trpc, cache } = useApi();
  const { data, error } = useQuery(
    trpc.assistant.thread.queryOptions({ thread_id: threadId ?? "" }, { enabled: threadId !== null, refetchOnWindowFocus: false }),
  );
  // What was read once stays while the server cannot be asked.
  const isGone = error !== null && (data === undefined || isMissing(error));
  const [held, setHeld] = useState(() => begin(threadId));
  const state = held.threadId === threadId ? held : begin(threadId);
  const { replayed } = state;
  if (held !== state) setHeld(state);
  else if (data && replayed === null) setHeld({ ...state, replayed: data.last_event_id });

  // What checks events is loaded for the first thread, beside what is read of it. Without it there is no line.
  const { data: events, failureCount } = useQuery({
    queryKey: ["thread-events"],
    queryFn: () => import("#components/assistant/thread-events.ts"),
    enabled: threadId !== null,
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
    retry: true,
  });

  // A browser holds few lines to one server, for all of its tabs together: one that nobody sees and where nothing happens needs none.
  const isSeen = useSyncExternalStore(onVisibility, isVisible, () => true);
  const isFollowed = isSeen || state.turns.some(isAtWork);
  const drawn = useRef(0);
  drawn.current = state.seq;

  useEffect(() => {
    if (threadId === null || replayed === null || !events || !isFollowed || isGone) return;
    let waiting: { seq: number; event: ThreadEvent }[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const change = (next: (before: Followed) => Followed) => setHeld((before) => (before.threadId === threadId ? next(before) : before));
    const draw = () => {
      const batch = waiting;
      waiting = [];
      timer = undefined;
      change((before) => ({ ...before, ...threadOf(batch, before) }));
      const fresh = batch.filter(({ seq }) => seq > replayed).map(({ event }) => event);
      for (const filter of staleAfter(trpc, fresh)) void cache.invalidateQueries(filter);
    };
    const hangUp = followLine<ThreadEvent>({
      path: `/api/v1/bridge/threads/${threadId}/stream`,
      ...events,
      after: drawn.current,
      onEvent: (seq, event) => {
        waiting.push({ seq, event });
        timer ??= setTimeout(draw, TOGETHER_MS);
      },
      onLine: (line) => {
        change((before) => ({ ...before, line }));
        // It may be down for us alone: the thread was deleted elsewhere, or the session has ended.
        if (line === "reconnecting")
          void cache.invalidateQueries(trpc.assistant.thread.queryFilter({ thread_id: threadId }), { cancelRefetch: false });
      },
    });
    return () => {
      hangUp();
      clearTimeout(timer);
    };
  }, [threadId, replayed, events, isFollowed, isGone, trpc, cache]);

  if (isGone) return { thread: NO_THREAD, summary: null, error };
  const thread: LiveThread = {
    turns: state.turns,
    seq: state.seq,
    line: events || failureCount === 0 ? state.line : "reconnecting",
    isCurrent: threadId === null || (replayed !== null && state.seq >= replayed),
    isWorking: state.turns.some(isUnderWay),
  };
  return { thread, summary: data ?? null, error: null };
}

type Trpc = ReturnType<typeof useApi>["trpc"];

/** What else on the screen has become another by what the assistant did. */
function staleAfter(trpc: Trpc, events: readonly ThreadEvent[]) {
  const has = (...wanted: ThreadEvent["type"][]) => events.some(({ type }) => wanted.includes(type));
  const called = new Set(events.flatMap((event) => (event.type === "tool_result" && event.ok ? [event.name] : [])));
  return [
    ...(has("message", "message_done", "message_failed", "question", "confirmation") ? [trpc.assistant.threads.pathFilter()] : []),
    ...(has("proposal", "decided") ? [trpc.assistant.pathFilter()] : []),
    ...(called.has("create_workflow") ? [trpc.workflows.list.pathFilter()] : []),
    ...(called.has("create_agent") || called.has("update_agent") ? [trpc.agents.pathFilter()] : []),
    ...(called.has("run_workflow") || called.has("rerun_from_node") ? [trpc.executions.list.pathFilter()] : []),
    ...(called.has("decide_review") ? [trpc.reviews.pathFilter()] : []),
  ];
}

export interface Message {
  content: string;
  mode: MessageMode;
  context: MessageContext;
}

/** Where messages go: a thread, or null until the first of them has begun it. */
export interface Target {
  threadId: string | null;
}

/**
 * Writes a message, in a thread that is begun with it where there is none; tells in which. One after the other: they are to come in
 * the order in which they were written.
 */
export function useSend() {
  const { trpc, client, cache } = useApi();
  return useMutation({
    scope: { id: "assistant.send" },
    mutationFn: async ({ into, content, mode, context }: Message & { into: Target }) => {
      const { threadId } = into;
      const { workflow_id } = context;
      const begun = threadId === null ? await client.assistant.createThread.mutate({ ...(workflow_id && { workflow_id }) }) : null;
      const thread_id = begun?.id ?? threadId ?? "";
      // Nothing has happened in it yet: all that the stream tells is new, however late somebody listens.
      if (begun) cache.setQueryData(trpc.assistant.thread.queryKey({ thread_id }), { ...begun, messages: [], last_event_id: 0 });
      try {
        await client.assistant.send.mutate({ thread_id, content, mode, context });
      } catch (failure) {
        // Refused, not lost on the way: nobody looks for a thread in which nothing was said.
        const { status } = errorBodyOf(failure);
        if (begun && status >= 400 && status < 500) await client.assistant.deleteThread.mutate({ thread_id }).catch(() => undefined);
        throw failure;
      }
      into.threadId = thread_id;
      void cache.invalidateQueries(trpc.assistant.threads.pathFilter());
      // Its first message has given it its name.
      if (begun) void cache.invalidateQueries(trpc.assistant.thread.queryFilter({ thread_id }));
      return thread_id;
    },
  });
}
