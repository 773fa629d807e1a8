"use client";

import type { Answer, StreamEvent } from "#components/api-reference/send.ts";
import { Badge, type BadgeTone } from "#components/ui/badge.tsx";
import { CodeBlock } from "#components/ui/code-block.tsx";

const toneOf = (status: number): BadgeTone => (status < 300 ? "complete" : status < 500 ? "waiting" : "failed");

export interface AnswerViewProps {
  answer: Answer;
  events: readonly StreamEvent[];
  /** Whether the stream is still open. */
  isOpen: boolean;
}

/** How many of a stream's events are drawn; the newest. */
const MAX_EVENTS = 500;

/** What came back: status, time, headers, and the body or the events as they arrive. */
export function AnswerView({ answer, events, isOpen }: AnswerViewProps) {
  const { status, statusText, ms, headers, text, isStream } = answer;
  return (
    <section aria-label="Answer" className="flex min-w-0 flex-col gap-3">
      <p className="flex flex-wrap items-center gap-2 text-12 text-ink-soft">
        <Badge tone={toneOf(status)}>
          {status} {statusText}
        </Badge>
        <span className="tabular">{ms} ms</span>
        {isStream && (
          <span>{isOpen ? `${events.length} events so far, the stream is open` : `${events.length} events, the stream is closed`}</span>
        )}
      </p>
      {text !== undefined && text !== "" && <CodeBlock label="answer" code={text} className="max-h-120 overflow-y-auto" />}
      {text === "" && <p className="text-12 text-ink-soft">No body.</p>}
      {isStream && (
        <ol
          aria-label="Events"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
          tabIndex={0}
          className="flex max-h-120 flex-col divide-y overflow-y-auto rounded-lg border bg-sunken"
        >
          {events.slice(-MAX_EVENTS).map(({ id, event, data }, index) => (
            <li key={`${id}${index.toString()}`} className="flex flex-wrap gap-x-3 gap-y-0.5 px-3 py-1.5 font-mono text-12">
              <span className="text-ink-faint tabular">{id}</span>
              <span className="font-semibold text-thread-text">{event}</span>
              <span className="min-w-0 basis-full break-all text-ink-soft">{data}</span>
            </li>
          ))}
          {events.length === 0 && <li className="px-3 py-1.5 text-12 text-ink-soft">Waiting for the first event…</li>}
        </ol>
      )}
      <details className="text-12">
        <summary className="min-h-6 cursor-pointer text-ink-soft">Headers of the answer</summary>
        <dl className="mt-1 grid gap-x-4 gap-y-0.5 font-mono sm:grid-cols-[max-content_minmax(0,1fr)]">
          {headers.map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-ink-soft">{name}</dt>
              <dd className="break-all">{value}</dd>
            </div>
          ))}
        </dl>
      </details>
    </section>
  );
}
