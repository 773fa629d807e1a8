"use client";

import { X } from "lucide-react";
import { useAssistant } from "#components/shell/assistant.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { ResizableDivider } from "#components/ui/resizable-divider.tsx";

/** The assistant beside a page. */
export function AssistantPanel() {
  const { close } = useAssistant();
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
        className="absolute inset-y-0 left-0 bg-transparent max-md:hidden"
      />
      <header className="flex h-12 shrink-0 items-center gap-1 border-b pr-2 pl-4">
        <h2 className="min-w-0 flex-1 font-semibold text-14">Assistant</h2>
        <IconButton label="Close assistant" icon={<X />} onClick={close} />
      </header>
    </>
  );
}
