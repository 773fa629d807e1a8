"use client";

import { useQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import type { z } from "zod";
import type { AgentForm } from "#components/agents/agent-form-schema.ts";
import { askedOf } from "#components/agents/asked-of.ts";
import { formatCount, plural } from "#components/format.ts";
import { errorBodyOf, useTRPC } from "#components/trpc.tsx";
import { CodeBlock } from "#components/ui/code-block.tsx";
import { CopyButton } from "#components/ui/copy.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import type { PromptPreview, PromptPreviewInput } from "#server/features/agents/schema.ts";

/** What the model would be sent, as the form stands now, saved or not. */
export function PromptPreviewDialog({ values, onClose }: { values: z.input<typeof AgentForm>; onClose: () => void }) {
  return (
    <Dialog
      onClose={onClose}
      size="lg"
      title="Prompt preview"
      description="Instructions that the model receives before the question, from your draft. Opening this calls no model."
    >
      <PreviewBody asked={askedOf(values)} />
    </Dialog>
  );
}

function PreviewBody({ asked }: { asked: PromptPreviewInput | string }) {
  const trpc = useTRPC();
  const isReady = typeof asked !== "string";
  const input = isReady ? asked : { llm_key_id: "", model: "" };
  const preview = useQuery(trpc.agents.promptPreview.queryOptions(input, { enabled: isReady, gcTime: 0, retry: false }));
  if (!isReady) return <Notice tone="waiting">{asked}</Notice>;
  if (preview.isError) return <Notice tone="failed">{errorBodyOf(preview.error).detail}</Notice>;
  if (!preview.data) return <Skeleton className="h-48" />;
  return <Preview {...preview.data} />;
}

function Preview({ system, tools, response_format, body }: PromptPreview) {
  const isInWords = system?.includes("It must follow this JSON Schema:") ?? false;
  return (
    <div className="flex min-w-0 flex-col gap-5">
      <Part title="System message" note={system === null ? undefined : `${formatCount(system.length)} characters`}>
        {system === null ? (
          <p className="text-14 text-ink-soft">None: there is no system prompt and no skill.</p>
        ) : (
          <Prose text={system} label="system message" />
        )}
      </Part>
      <Part title="Tools" note={tools.length ? plural(tools.length, "tool") : undefined}>
        {tools.length === 0 && <p className="text-14 text-ink-soft">None: the model can only answer.</p>}
        {tools.length > 0 && (
          <ul className="flex flex-col gap-1.5">
            {tools.map((tool) => (
              <li key={tool.name}>
                <Disclosure summary={<span className="font-semibold font-mono">{tool.name}</span>} about={tool.description}>
                  <CodeBlock code={JSON.stringify(tool.parameters, null, 2)} label={`parameters of ${tool.name}`} />
                </Disclosure>
              </li>
            ))}
          </ul>
        )}
      </Part>
      <Part title="Response format">
        {response_format !== null ? (
          <CodeBlock code={JSON.stringify(response_format, null, 2)} label="response format" className="max-h-80 overflow-y-auto" />
        ) : (
          <p className="text-14 text-ink-soft">
            {isInWords
              ? "The provider takes no schema in this request: the system message asks for it in words, and each answer is checked."
              : "Free text."}
          </p>
        )}
      </Part>
      <Disclosure summary={<span className="font-semibold">Whole request</span>} about="JSON of the first round; the key goes in a header">
        <CodeBlock code={JSON.stringify(body, null, 2)} label="request" wraps />
      </Disclosure>
    </div>
  );
}

/** A text as it is written, broken between words. */
function Prose({ text, label }: { text: string; label: string }) {
  return (
    <div className="relative min-w-0">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is no box for text */}
      <pre
        role="group"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label={label}
        className="max-h-80 overflow-y-auto whitespace-pre-wrap break-words rounded-lg border bg-sunken p-3 pr-11 font-mono text-12 text-ink focus-visible:outline-offset-[-2px]"
      >
        {text}
      </pre>
      <CopyButton value={text} what={label} className="absolute top-1.5 right-3 bg-sunken" />
    </div>
  );
}

function Part({ title, note, children }: { title: string; note?: string | undefined; children: ReactNode }) {
  return (
    <section className="flex min-w-0 flex-col gap-1.5">
      <div className="flex items-baseline justify-between gap-3">
        <h3 className="font-semibold text-14">{title}</h3>
        {note && <span className="text-12 text-ink-faint tabular">{note}</span>}
      </div>
      {children}
    </section>
  );
}

function Disclosure({ summary, about, children }: { summary: ReactNode; about: string; children: ReactNode }) {
  return (
    <details className="group min-w-0 rounded-lg border bg-surface">
      <summary className="flex min-h-8 cursor-pointer list-none items-start gap-2 px-2.5 py-1.5 text-12 pointer-coarse:min-h-11 [&::-webkit-details-marker]:hidden">
        <ChevronRight aria-hidden className="mt-0.5 size-3.5 shrink-0 text-ink-faint transition-transform group-open:rotate-90" />
        <span className="min-w-0 break-words">
          {summary} <span className="text-ink-soft">{about}</span>
        </span>
      </summary>
      <div className="border-t p-2.5">{children}</div>
    </details>
  );
}
