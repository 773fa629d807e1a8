"use client";

import { Maximize2, X } from "lucide-react";
import { useEffect, useRef } from "react";
import { AssistantView } from "#components/assistant/assistant-view.tsx";
import { ThreadMenu } from "#components/assistant/thread-list.tsx";
import { useCurrentThread } from "#components/assistant/use-current-thread.ts";
import { ASSISTANT_PAGE, useAssistant } from "#components/shell/assistant.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { isFocusLost } from "#components/ui/focus.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Link } from "#components/ui/link.tsx";
import { ResizableDivider } from "#components/ui/resizable-divider.tsx";

/** The assistant beside a page: the thread that was open last. */
export function AssistantPanel() {
  const { close } = useAssistant();
  const { project } = useStudio();
  const [threadId, setThreadId] = useCurrentThread(project.id);
  useFocusBack();
  useToastsBeside();
  return (
    <>
      <ResizableDivider
        name="assistant"
        label="Resize the assistant"
        orientation="vertical"
        area="after"
        defaultSize={400}
        min={320}
        max={0.5}
        className="absolute! inset-y-0 left-0 bg-transparent max-md:hidden"
      />
      <header className="flex h-12 shrink-0 items-center gap-0.5 border-b px-2">
        <ThreadMenu current={threadId} onOpen={setThreadId} heading="h2" />
        <Link
          href={threadId === null ? ASSISTANT_PAGE : `${ASSISTANT_PAGE}?thread=${threadId}`}
          aria-label="Open as a page"
          title="Open as a page"
          className="inline-flex size-7 items-center justify-center rounded-md text-ink-soft hover:bg-hover hover:text-ink pointer-coarse:size-11 [&_svg]:size-3.5"
        >
          <Maximize2 aria-hidden />
        </Link>
        <IconButton label="Close assistant" icon={<X />} onClick={close} className="pointer-coarse:size-11" />
      </header>
      <AssistantView key={project.id} threadId={threadId} onThreadChange={setThreadId} />
    </>
  );
}

/** When the panel closes, what had the focus before has it again. */
function useFocusBack() {
  const before = useRef<Element | null>(typeof document === "undefined" ? null : document.activeElement);
  useEffect(
    () => () => {
      const { current } = before;
      // Whoever has gone on somewhere else stays there.
      if (!isFocusLost()) return;
      if (current instanceof HTMLElement && current.isConnected) current.focus();
    },
    [],
  );
}

/** Short messages stand beside the panel: over its field they would hide what one writes with. */
function useToastsBeside() {
  useEffect(() => {
    const { style } = document.documentElement;
    style.setProperty("--toasts-beside", "calc(min(var(--layout-assistant, 400px), 50vw) + 16px)");
    return () => void style.removeProperty("--toasts-beside");
  }, []);
}
