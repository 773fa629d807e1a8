"use client";

import { Sparkles } from "lucide-react";
import dynamic from "next/dynamic";
import { usePathname } from "next/navigation";
import { useEffect, useRef } from "react";
import { ASSISTANT_PAGE, useAssistant } from "#components/shell/assistant.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";

// Loaded when it is first opened.
const AssistantPanel = dynamic(() => import("#components/assistant/assistant-panel.tsx").then((module) => module.AssistantPanel));

/** The assistant right of every page but its own, which fills a phone; ⌘/Ctrl+J opens and closes it. */
export function AssistantSide() {
  const { isOpen, open, close } = useAssistant();
  const pathname = usePathname();
  const isOnItsPage = pathname === ASSISTANT_PAGE;
  const before = useRef(pathname);
  useEffect(() => {
    if (before.current === pathname) return;
    before.current = pathname;
    // It lies over a phone's page: who has gone to another one wants to see that.
    if (isOpen && !matchMedia("(width >= 48rem)").matches) close();
  }, [pathname, isOpen, close]);
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

/** Opens the assistant where there is no keyboard for it. */
export function AssistantButton() {
  const { open } = useAssistant();
  if (usePathname() === ASSISTANT_PAGE) return null;
  return (
    <IconButton
      label="Ask the assistant"
      icon={<Sparkles className="size-4!" />}
      size="lg"
      hasTooltip={false}
      className="size-10"
      onClick={() => open()}
    />
  );
}
