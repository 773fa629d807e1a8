"use client";

import { useMutation } from "@tanstack/react-query";
import { SendHorizontal } from "lucide-react";
import { type FormEvent, useState } from "react";
import { formatDuration, formatTokens } from "#components/format.ts";
import { errorBodyOf, useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { Field } from "#components/ui/field.tsx";
import { Markdown } from "#components/ui/markdown.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Textarea } from "#components/ui/textarea.tsx";

/** One message to the saved agent and its whole answer. */
export function TryAgent({ agentId, isDirty }: { agentId: string; isDirty: boolean }) {
  const trpc = useTRPC();
  const [message, setMessage] = useState("");
  const [took, setTook] = useState<number | null>(null);
  const test = useMutation(trpc.agents.test.mutationOptions());
  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (test.isPending || message.trim() === "") return;
    const started = performance.now();
    setTook(null);
    test.mutate({ agent_id: agentId, message }, { onSettled: () => setTook(performance.now() - started) });
  };
  return (
    <section aria-label="Try it" className="flex flex-col gap-4 rounded-lg border bg-surface p-4">
      <h2 className="font-semibold text-14">Try it</h2>
      <form onSubmit={send} className="flex flex-col gap-3">
        <Field label="Message" {...(isDirty && { hint: "The saved agent answers. Save first to try your changes." })}>
          <Textarea
            rows={3}
            value={message}
            onChange={(event) => setMessage(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
                event.preventDefault();
                send();
              }
            }}
            placeholder="Ask it something. Enter sends, Shift+Enter starts a new line."
          />
        </Field>
        <Button type="submit" icon={<SendHorizontal />} isPending={test.isPending} disabled={message.trim() === ""} className="self-start">
          Send
        </Button>
      </form>
      <div aria-live="polite" className="flex flex-col gap-3 empty:hidden">
        {test.isPending && <p className="animate-breathe text-13 text-ink-soft">Waiting for the answer…</p>}
        {test.isError && <Notice tone="failed">{errorBodyOf(test.error).detail}</Notice>}
        {test.data && (
          <article className="flex flex-col gap-2 border-t pt-3">
            <div className="max-h-120 overflow-y-auto">
              {test.data.response === "" ? (
                <p className="text-ink-faint">The model sent an empty answer.</p>
              ) : (
                <Markdown>{test.data.response}</Markdown>
              )}
            </div>
            {test.data.tool_calls.length > 0 && (
              <ul className="flex flex-col gap-1 font-mono text-11 text-ink-soft">
                {test.data.tool_calls.map((call, index) => (
                  <li key={`${index.toString()} ${call.name}`} className="break-all">
                    {call.name}({JSON.stringify(call.args)})
                  </li>
                ))}
              </ul>
            )}
            <footer className="flex items-center gap-2 text-11 text-ink-faint tabular">
              <span className="min-w-0 truncate font-mono">{test.data.model}</span>
              <span aria-hidden>·</span>
              <span className="whitespace-nowrap">{formatTokens(test.data.input_tokens, test.data.output_tokens)} tokens</span>
              {took !== null && (
                <>
                  <span aria-hidden>·</span>
                  <span className="whitespace-nowrap">{formatDuration(took)}</span>
                </>
              )}
              <CopyButton value={test.data.response} what="answer" className="ml-auto" />
            </footer>
          </article>
        )}
      </div>
    </section>
  );
}
