"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { CornerDownLeft, Sparkles, TriangleAlert } from "lucide-react";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { afterSending, Composer, contextOf } from "#components/assistant/composer.tsx";
import { joined, keepDraft, NO_DRAFT, readDraft } from "#components/assistant/draft.ts";
import { type Starter, startersFor } from "#components/assistant/starters.ts";
import { isAtWork, isUnderWay, openQuestion, type Turn } from "#components/assistant/thread-of.ts";
import { TurnView } from "#components/assistant/turn-view.tsx";
import { type LiveThread, type Message, type Target, useSend, useThread } from "#components/assistant/use-thread.ts";
import { AssistantForm } from "#components/settings/assistant-settings.tsx";
import { type AssistantPlace, takeAssistantRequest, useAssistantState, useAtWork, useSubject } from "#components/shell/assistant.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Link } from "#components/ui/link.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { useFollowedEnd } from "#components/ui/use-followed-end.ts";
import type { MessageContext } from "#server/features/assistant/schema.ts";

/** How many of the last messages are always drawn. */
const NEAR = 12;

export interface AssistantViewProps {
  /** null: the next message begins one. */
  threadId: string | null;
  onThreadChange: (threadId: string | null) => void;
}

/** One thread with the field to write in: what the panel and the page are about. */
export function AssistantView({ threadId, onThreadChange }: AssistantViewProps) {
  const trpc = useTRPC();
  const { project } = useStudio();
  const { request, place: told } = useAssistantState();
  const settings = useQuery(trpc.assistant.settings.queryOptions({}));
  const { thread, summary, error } = useThread(threadId);
  const stop = useMutation(trpc.assistant.stop.mutationOptions({ onError: (failure) => toast.error(errorBodyOf(failure).detail) }));
  const send = useSend();
  const field = useRef<HTMLTextAreaElement>(null);
  const [draft, setDraft] = useDraft(project.id);
  const { place, attached, attach, takeOff } = usePlace(told);
  const isReady = settings.data?.ready === true;

  // For those that follow before the thread that a message begins is on the screen.
  const into = useRef<Target>({ threadId });
  const shown = useRef(threadId);
  if (shown.current !== threadId) {
    shown.current = threadId;
    if (into.current.threadId !== threadId) into.current = { threadId };
  }
  const { mutateAsync } = send;
  const write = useStable(async (message: Message, target: Target = into.current): Promise<boolean> => {
    try {
      const sentTo = await mutateAsync({ ...message, into: target });
      if (sentTo !== threadId) onThreadChange(sentTo);
      return true;
    } catch (failure) {
      toast.error(errorBodyOf(failure).detail);
      return false;
    }
  });
  const context = contextOf(place);
  const ask = useStable((content: string) => void write({ content, mode: draft.mode, context }));

  // Where nothing is said yet it asks about what is open.
  useSubject((thread.turns.at(-1)?.context ?? contextOf(place)).workflow_id ?? null);
  useAtWork(thread.turns.some(isAtWork) ? threadId : null);

  // What a page has opened the assistant for: a prompt is sent once it is known that there is somebody to answer it.
  const isKnown = settings.data !== undefined && (threadId === null || summary !== null || error !== null);
  const take = useStable(async () => {
    const { context: wanted = {}, prompt, mode } = takeAssistantRequest() ?? {};
    // On a phone the keyboard would cover what there is to read.
    if (!matchMedia("(pointer: coarse)").matches) field.current?.focus();
    if (prompt !== undefined && isReady) {
      const about = contextOf({ ...told, ...wanted });
      // The thread goes on where it is about the same workflow; else it would carry along what has nothing to do with it.
      const isSame = about.workflow_id !== undefined && about.workflow_id === summary?.workflow_id;
      if (await write({ content: prompt, mode: mode ?? "build", context: about }, isSame ? into.current : { threadId: null })) return;
    }
    // What could not be sent is still there.
    attach(wanted);
    setDraft((before) => joined(before, { text: prompt ?? "", mentions: [], mode: mode ?? before.mode }));
  });
  useEffect(() => {
    if (request && isKnown) void take();
  }, [request, isKnown, take]);

  // What one writes while it asks is the answer; another message would wait for the answer as well.
  const question = openQuestion(thread.turns);
  const answer = useMutation(trpc.assistant.answer.mutationOptions({ onError: (failure) => toast.error(errorBodyOf(failure).detail) }));
  const submit = async (content: string, mode: Message["mode"], about: MessageContext) => {
    // At once: what is written until the server has answered belongs to the next message.
    setDraft(afterSending);
    attach({});
    const isSent = question
      ? await answer.mutateAsync({ question_id: question.id, answer: content }).catch(() => null)
      : await write({ content, mode, context: about });
    if (isSent) return;
    // Where it is closed by now the text is there when it is opened again.
    if (!field.current) return keepDraft(project.id, joined(draft, readDraft(project.id)));
    setDraft((since) => joined(draft, since));
    attach((since) => ({ ...attached, ...since }));
  };
  const takeBack = useStable((turn: Turn) => {
    if (threadId !== null) stop.mutate({ thread_id: threadId, message_id: turn.id });
    // To be written in another way; what is being written already stays.
    setDraft((before) => (before.text === "" ? { ...before, text: turn.content } : before));
  });
  // What can be gone on with.
  const last = thread.turns.findLastIndex(({ status }) => status !== "taken_back");
  const missing = settings.data && !isReady && <NotReady settings={settings.data} />;
  const list = useFollowedEnd<HTMLElement>(thread.turns.length);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <section
        ref={list}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label="Conversation"
        className="min-h-0 flex-1 overflow-y-auto focus-visible:outline-offset-[-2px]"
      >
        <div className="mx-auto flex min-h-full w-full max-w-192 flex-col gap-6 px-4 py-5">
          {error !== null && (
            <Notice
              actions={
                <Button size="sm" onClick={() => onThreadChange(null)}>
                  New thread
                </Button>
              }
            >
              {errorBodyOf(error).detail}
            </Notice>
          )}
          {!thread.isCurrent && error === null && thread.turns.length === 0 && <Skeleton className="h-24" />}
          {thread.isCurrent && thread.turns.length === 0 && error === null && (
            <Beginning>
              {isReady && <Suggestions place={place} onStart={({ prompt, mode }) => void write({ content: prompt, mode, context })} />}
              {missing}
            </Beginning>
          )}
          {thread.turns.length > 0 && (
            <ol aria-label="Messages" className="flex flex-col gap-6">
              {thread.turns.map((turn, index) => (
                <TurnView
                  key={turn.id}
                  turn={turn}
                  onAsk={ask}
                  onTakeBack={takeBack}
                  isLast={index === last}
                  isFar={index < thread.turns.length - NEAR}
                />
              ))}
            </ol>
          )}
          {thread.turns.length > 0 && missing}
          <LoadFailure query={settings} />
        </div>
      </section>
      <div className="mx-auto w-full max-w-192 shrink-0 px-3 pt-1 pb-3">
        {thread.line === "reconnecting" && (
          <p role="status" className="px-1 pb-1.5 text-12 text-waiting">
            The line to the server is down; the work goes on there. Connecting…
          </p>
        )}
        <Composer
          draft={draft}
          onDraftChange={setDraft}
          place={place}
          onTakeOff={takeOff}
          onSend={(content, mode, about) => void submit(content, mode, about)}
          isSending={send.isPending}
          isAnswering={(answer.isPending || answer.isSuccess) && answer.variables.question_id === question?.id}
          isAnswer={question !== undefined}
          onStop={thread.isWorking && threadId !== null ? () => stop.mutate({ thread_id: threadId }) : null}
          isStopping={stop.isPending}
          // Until it is known whether anybody answers, the server says it.
          isReady={settings.data?.ready !== false}
          field={field}
        />
      </div>
      <Announcer key={threadId} thread={thread} />
    </div>
  );
}

/** The same function in every drawing, which does what the latest was given. */
function useStable<Args extends unknown[], Result>(act: (...args: Args) => Result): (...args: Args) => Result {
  const latest = useRef(act);
  latest.current = act;
  return useCallback((...args) => latest.current(...args), []);
}

/** What is being written in this project; it is still there after the panel, the page or the tab was closed. */
function useDraft(projectId: string) {
  const [draft, setDraft] = useState(NO_DRAFT);
  const isRead = useRef(false);
  useEffect(() => {
    if (isRead.current) return keepDraft(projectId, draft);
    isRead.current = true;
    setDraft(readDraft(projectId));
  }, [projectId, draft]);
  return [draft, setDraft] as const;
}

/** What the next message is about: what the page has open, and what was attached to it, without what the person took off. */
function usePlace(told: AssistantPlace) {
  const [attached, attach] = useState<AssistantPlace>({});
  // Taken off is this one thing: when another is opened or selected, it is attached again.
  const [off, setOff] = useState<ReadonlySet<string>>(new Set());
  const all = { ...told, ...attached };
  const place: AssistantPlace = Object.fromEntries(Object.entries(all).filter(([kind, thing]) => thing && !off.has(`${kind} ${thing.id}`)));
  const takeOff = (kind: keyof AssistantPlace) => setOff(new Set([...off, `${kind} ${all[kind]?.id}`]));
  return { place, attached, attach, takeOff };
}

/** An empty thread. */
const Beginning = ({ children }: { children: ReactNode }) => (
  <div className="my-auto flex flex-col gap-3">
    <div className="flex flex-col gap-1 px-1">
      <Sparkles aria-hidden className="mb-1 size-5 text-thread-text" />
      <h3 className="font-semibold text-16">What would you like to do?</h3>
      <p className="text-14 text-ink-soft">
        It reads what you may read and does what you may do. Changes are proposed first; nothing happens before you accept.
      </p>
    </div>
    {children}
  </div>
);

/** What one may ask here. */
function Suggestions({ place, onStart }: { place: AssistantPlace; onStart: (starter: Starter) => void }) {
  const trpc = useTRPC();
  const { canEdit } = useStudio();
  const workflows = useQuery(trpc.workflows.list.queryOptions({ per_page: 1 }));
  if (workflows.isPending) return null;
  return (
    <ul aria-label="Suggestions" className="flex flex-col gap-1.5">
      {startersFor(place, { isEmpty: workflows.data?.total === 0, canEdit }).map((starter) => (
        <li key={starter.prompt}>
          <button
            type="button"
            onClick={() => onStart(starter)}
            className="group flex w-full items-start gap-2 rounded-lg border bg-raised px-3 py-2.5 text-left text-14 text-ink transition-colors hover:border-thread hover:bg-thread-soft pointer-coarse:min-h-11"
          >
            <span className="min-w-0 flex-1">{starter.prompt}</span>
            <CornerDownLeft
              aria-hidden
              className="mt-1 size-3 shrink-0 text-ink-faint opacity-0 group-hover:opacity-100 group-focus-visible:opacity-100"
            />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Why nobody answers, and what to do about it. */
function NotReady({ settings }: { settings: Parameters<typeof AssistantForm>[0]["settings"] }) {
  const { canAdminister } = useStudio();
  return (
    <section
      aria-label="The assistant is not set up"
      className="flex flex-col gap-4 rounded-lg border border-waiting/60 bg-raised p-4 text-14 shadow-md"
    >
      <p className="flex gap-2.5">
        <TriangleAlert aria-hidden className="mt-0.75 size-3.5 shrink-0 text-waiting" />
        <span className="min-w-0">{settings.problem}</span>
      </p>
      {canAdminister ? (
        <AssistantForm settings={settings} />
      ) : (
        <Link href="/settings/members" className="self-start text-thread-text underline underline-offset-2">
          Who the admins are
        </Link>
      )}
    </section>
  );
}

/** What has just come about, for somebody who does not see it: told once, and not word by word. */
function newsOf({ status, parts }: Turn): string {
  switch (status) {
    case "queued":
      return "The message is queued";
    case "working":
      return "The assistant is working";
    case "waiting":
      return parts.at(-1)?.kind === "question" ? "The assistant has a question" : "The assistant waits for your approval";
    case "done":
      return parts.some((part) => part.kind === "proposal" && part.status === "open")
        ? "The assistant proposes a change"
        : "The assistant has answered";
    case "failed":
      return "The assistant could not go on";
    case "taken_back":
      return "The message was taken back";
    case "stopped":
      return "The assistant was stopped";
  }
}

/** Tells assistive technology, and a tab that nobody looks at, how it stands. */
function Announcer({ thread }: { thread: LiveThread }) {
  const turn = thread.turns.findLast(({ status }) => status !== "queued") ?? thread.turns.at(-1);
  const state = turn ? `${turn.id} ${turn.status}` : "";
  const [news, setNews] = useState("");
  // What a replay ends with is no news.
  const known = useRef<string | null>(null);
  const tell = useStable(() => {
    const before = known.current;
    known.current = state;
    if (before === null || before === state || !turn) return;
    const words = newsOf(turn);
    setNews(words);
    if (!isUnderWay(turn) || turn.status === "waiting") notify(words);
  });
  useEffect(() => {
    if (thread.isCurrent && state !== known.current) tell();
  }, [thread.isCurrent, state, tell]);
  return (
    <p role="status" className="sr-only">
      {news}
    </p>
  );
}

/** Only where somebody has allowed it, and only while they look elsewhere. */
function notify(words: string): void {
  if (!document.hidden || !("Notification" in window) || Notification.permission !== "granted") return;
  new Notification("Treadle", { body: words, tag: "treadle-assistant" });
}
