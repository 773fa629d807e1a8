"use client";

import { ArrowUp } from "lucide-react";
import { type FormEvent, useId, useRef, useState } from "react";
import { isComposing } from "#components/is-composing.ts";
import { useAssistant } from "#components/shell/assistant.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Kbd } from "#components/ui/kbd.tsx";
import { useSession, useSessionState } from "#components/workflow-editor/session/session-context.tsx";

/** Requests that need nothing but a model, to begin from. */
const STARTERS = [
  { title: "A digest every morning", text: "Every weekday at 8, write a short digest about " },
  {
    title: "Replies that a person approves",
    text: "Draft a reply to each message that comes in, and let a person approve it before it goes on",
  },
  {
    title: "One answer for each item",
    text: "Go through a list of items and write a line about each of them, then put the lines together",
  },
] as const;

/** On a canvas with nothing but its trigger: what somebody wants is said to the assistant, which builds it here. */
export function FirstRequest() {
  const { open } = useAssistant();
  const { workflowId } = useSession();
  const name = useSessionState((state) => state.name);
  const [text, setText] = useState("");
  const title = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const send = (event?: FormEvent) => {
    event?.preventDefault();
    const prompt = text.trim();
    if (prompt === "") return field.current?.focus();
    open({ context: { workflow: { id: workflowId, name } }, prompt, mode: "build" });
    setText("");
  };
  const begin = (words: string) => {
    setText(words);
    field.current?.focus();
  };
  return (
    <div className="pointer-events-none absolute inset-x-0 bottom-16 z-10 flex justify-center px-3">
      <form
        aria-labelledby={title}
        onSubmit={send}
        className="pointer-events-auto flex w-full max-w-128 flex-col gap-2.5 rounded-xl border border-line-strong bg-raised p-4 shadow-lg"
      >
        <h2 id={title} className="font-semibold text-16 text-ink">
          What would you like to automate?
        </h2>
        <div className="flex items-end gap-2 rounded-lg border border-line-control bg-surface p-1.5 focus-within:border-thread">
          <textarea
            ref={field}
            aria-labelledby={title}
            value={text}
            rows={2}
            placeholder="Say it in your own words. You see every change before it is made."
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && !event.shiftKey && !isComposing(event)) send(event);
            }}
            className="field-sizing-content max-h-40 min-h-11 min-w-0 flex-1 resize-none bg-transparent px-1.5 py-1 text-14 text-ink placeholder:text-ink-faint focus:outline-none pointer-coarse:text-16"
          />
          <IconButton
            type="submit"
            label="Build it"
            icon={<ArrowUp />}
            size="lg"
            className="bg-thread text-on-thread hover:bg-thread-strong hover:text-on-thread"
          />
        </div>
        <ul aria-label="To begin from" className="flex gap-1.5 max-sm:-mx-4 max-sm:overflow-x-auto max-sm:px-4 sm:flex-wrap">
          {STARTERS.map((starter) => (
            <li key={starter.title}>
              <button
                type="button"
                className="h-7 whitespace-nowrap rounded-full border border-line-strong px-2.5 text-12 text-ink-soft hover:border-line-control hover:text-ink pointer-coarse:h-11"
                onClick={() => begin(starter.text)}
              >
                {starter.title}
              </button>
            </li>
          ))}
        </ul>
        <p className="text-12 text-ink-faint max-sm:hidden">
          Or begin by hand: press <Kbd>N</Kbd> to add a node, or drag from the dot at the trigger's right.
        </p>
      </form>
    </div>
  );
}
