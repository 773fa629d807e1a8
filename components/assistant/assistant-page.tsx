"use client";

import { Plus } from "lucide-react";
import { useSearchParams } from "next/navigation";
import { startTransition, useEffect, useOptimistic } from "react";
import { AssistantView } from "#components/assistant/assistant-view.tsx";
import { ThreadList, ThreadMenu } from "#components/assistant/thread-list.tsx";
import { keepCurrentThread } from "#components/assistant/use-current-thread.ts";
import { ASSISTANT_PAGE } from "#components/shell/assistant.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { Button } from "#components/ui/button.tsx";

/** The assistant as a page: my threads, and the one that is open. */
export function AssistantPage() {
  // Next tells of an address when there is time: what is written meanwhile would go into the thread that was open before.
  const [threadId, setThreadId] = useOptimistic(useSearchParams().get("thread"));
  const { project } = useStudio();
  // The panel of other pages goes on with it.
  useEffect(() => {
    if (threadId !== null) keepCurrentThread(project.id, threadId);
  }, [project.id, threadId]);
  // The page is the same for every thread: the server need not be asked for it again.
  const open = (thread: string | null) =>
    startTransition(() => {
      setThreadId(thread);
      window.history.pushState(null, "", thread === null ? ASSISTANT_PAGE : `?thread=${thread}`);
    });
  return (
    <div className="flex h-full min-h-0">
      <nav aria-label="Threads" className="flex w-64 shrink-0 flex-col border-r max-md:hidden">
        <div className="flex flex-col gap-4 pt-8 pr-4 pb-3 pl-8">
          <h1 className="font-semibold text-24">Assistant</h1>
          <Button icon={<Plus />} onClick={() => open(null)}>
            New thread
          </Button>
        </div>
        <div className="min-h-0 flex-1 overflow-y-auto pl-4">
          <ThreadList current={threadId} onOpen={open} />
        </div>
      </nav>
      <aside aria-label="Assistant" className="flex min-h-0 min-w-0 flex-1 flex-col bg-surface">
        <header className="flex h-12 shrink-0 items-center gap-0.5 border-b px-2 md:hidden">
          <ThreadMenu current={threadId} onOpen={open} heading="h1" />
        </header>
        <AssistantView threadId={threadId} onThreadChange={open} />
      </aside>
    </div>
  );
}
