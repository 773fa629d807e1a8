"use client";

import { RotateCcw, RotateCw, SendHorizontal, Square } from "lucide-react";
import { type FormEvent, useCallback, useEffect, useRef, useState } from "react";
import { applyChatEvent, citationsOf, type Exchange, historyOf, newExchange, textOf } from "#components/agents/chat-turns.ts";
import { formatDuration, formatTokens } from "#components/format.ts";
import { isComposing } from "#components/is-composing.ts";
import { ToolStep, TruncatedAnswerNote } from "#components/runs/agent-answer.tsx";
import { Cost } from "#components/runs/cost.tsx";
import { SourceList } from "#components/runs/sources.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy.tsx";
import { Field } from "#components/ui/field.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Textarea } from "#components/ui/input.tsx";
import { Markdown } from "#components/ui/loaded-markdown.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { useFollowedEnd } from "#components/ui/use-followed-end.ts";
import type { ChatEvent, PromptPreviewInput } from "#server/features/agents/schema.ts";

/** What the page asks: the version that is published, or what stands in the form; it may say, as a sentence, why that cannot be asked yet. */
export interface ChatSubject {
  /** Undefined of an agent that is not there yet. */
  agentId: string | undefined;
  /** Left out, the published version is asked. */
  config?: (() => Promise<PromptPreviewInput | string>) | undefined;
}

/** A conversation with the agent as it stands on the screen: answers as they come, tools as steps, tokens and time. */
export function AgentChat({ subject }: { subject: ChatSubject }) {
  const { project } = useStudio();
  const { exchanges, isRunning, send, again, stop, clear } = useChat(subject.agentId, project.id);
  const [message, setMessage] = useState("");
  const [fault, setFault] = useState<string | null>(null);
  const list = useFollowedEnd<HTMLOListElement>(exchanges.length);
  const form = useRef<HTMLFormElement>(null);
  const { config } = subject;
  const isLooking = useRef(false);
  /** Asks what stands in the form, or the published version; where the form cannot be asked, it says what is missing. */
  const whenReady = async (ask: (config: PromptPreviewInput | undefined) => void) => {
    if (isLooking.current) return;
    isLooking.current = true;
    const asked = await config?.().catch((error: unknown) => errorBodyOf(error).detail);
    isLooking.current = false;
    setFault(typeof asked === "string" ? asked : null);
    if (typeof asked !== "string") ask(asked);
  };
  const askAgain = () =>
    void whenReady((asked) => {
      again(asked);
      // The button is gone while the agent answers.
      form.current?.querySelector("textarea")?.focus();
    });
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (isRunning || message.trim() === "") return;
    void whenReady((asked) => {
      send(message, asked);
      // What was typed on until the form could be asked stays.
      setMessage((now) => (now === message ? "" : now));
    });
  };
  return (
    <section
      aria-label="Try it"
      className="flex min-w-0 flex-col gap-4 rounded-lg border bg-surface p-4 lg:sticky lg:top-4 lg:max-h-[calc(100dvh-2rem)]"
    >
      <header className="flex min-h-7 items-center justify-between gap-2">
        <h2 className="font-semibold text-16">Try it</h2>
        {exchanges.length > 0 && <IconButton label="New conversation" icon={<RotateCcw />} onClick={clear} />}
      </header>
      {exchanges.length > 0 && (
        <ol ref={list} aria-label="Conversation" className="-mx-1 flex min-h-0 flex-col gap-5 overflow-y-auto px-1 max-lg:max-h-[60dvh]">
          {exchanges.map((exchange, index) => (
            <ExchangeView key={exchange.id} exchange={exchange} {...(index === exchanges.length - 1 && { onAgain: askAgain })} />
          ))}
        </ol>
      )}
      <p role="status" className="sr-only">
        {isRunning ? "The agent is answering." : exchanges.at(-1)?.state === "done" ? "The agent has answered." : ""}
      </p>
      <form ref={form} onSubmit={submit} className="flex shrink-0 flex-col gap-3">
        <Field
          label="Message"
          error={fault === null ? undefined : `The form is not ready to be asked: ${fault}`}
          {...(config !== undefined && { hint: "What is on the screen answers, published or not." })}
        >
          <Textarea
            rows={exchanges.length ? 2 : 3}
            value={message}
            onChange={(event) => setMessage(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && !event.shiftKey && !isComposing(event)) {
                event.preventDefault();
                submit();
              }
            }}
            placeholder={exchanges.length ? "Go on…" : "Ask it something. Enter sends, Shift+Enter starts a new line."}
          />
        </Field>
        {isRunning ? (
          <Button icon={<Square />} onClick={stop} className="w-24 self-start">
            Stop
          </Button>
        ) : (
          <Button type="submit" icon={<SendHorizontal />} disabled={message.trim() === ""} className="w-24 self-start">
            Send
          </Button>
        )}
      </form>
    </section>
  );
}

function ExchangeView({ exchange, onAgain }: { exchange: Exchange; onAgain?: () => void }) {
  const { message, parts, state, detail } = exchange;
  const isRunning = state === "running";
  return (
    <li className="flex min-w-0 flex-col gap-2.5">
      <p className="max-w-[88%] self-end whitespace-pre-wrap break-words rounded-lg bg-thread-soft px-3 py-1.5 text-14">
        <span className="sr-only">You: </span>
        {message}
      </p>
      {parts.map((part, index) =>
        part.kind === "tool" ? (
          <ToolStep key={`${index.toString()} ${part.id}`} part={part} isRunning={isRunning} />
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts are only ever added at the end
          <AnswerText key={index} text={part.text} />
        ),
      )}
      {isRunning && parts.at(-1)?.kind !== "text" && <p className="animate-breathe text-14 text-ink-soft">Waiting for the model…</p>}
      {state === "stopped" && <p className="text-12 text-ink-faint">Stopped.</p>}
      {state === "done" && textOf(exchange) === "" && <p className="text-14 text-ink-faint">The model sent an empty answer.</p>}
      {exchange.isCut && <TruncatedAnswerNote />}
      {detail !== null && <Notice tone="failed">{detail}</Notice>}
      {!isRunning && <SourceList sources={citationsOf(exchange)} />}
      {!isRunning && <ExchangeFacts exchange={exchange} {...(onAgain && { onAgain })} />}
    </li>
  );
}

/** Text of an answer; JSON, as an output schema asks for it, is set as code. */
function AnswerText({ text }: { text: string }) {
  return isJson(text) ? (
    <pre className="overflow-x-auto whitespace-pre-wrap break-words rounded-md bg-sunken p-2.5 font-mono text-12">{pretty(text)}</pre>
  ) : (
    <Markdown className="min-w-0">{text}</Markdown>
  );
}

/** An object from its first key on, while it arrives, and a whole list: an answer may well begin with the number of a source. */
function isJson(text: string): boolean {
  if (/^\s*\{\s*(?:"|\}\s*$|$)/.test(text)) return true;
  if (!/^\s*\[/.test(text)) return false;
  try {
    return Array.isArray(JSON.parse(text));
  } catch {
    return false;
  }
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function ExchangeFacts({ exchange, onAgain }: { exchange: Exchange; onAgain?: () => void }) {
  const { state, input_tokens, output_tokens, cost, tookMs } = exchange;
  const text = textOf(exchange);
  const facts = [
    exchange.agent_version === null
      ? state !== "running" && exchange.isDraft && "Unpublished changes"
      : `Version ${exchange.agent_version}`,
    state === "done" && `${formatTokens(input_tokens, output_tokens)} tokens`,
    tookMs !== null && formatDuration(tookMs),
  ].filter((fact) => fact !== false);
  return (
    <footer className="flex min-h-6 items-center gap-2 text-12 text-ink-faint tabular">
      <span className="min-w-0">
        {facts.join(" · ")}
        {state === "done" && (
          <>
            {" · "}
            <Cost cost={cost} />
          </>
        )}
      </span>
      <span className="ml-auto flex shrink-0 items-center gap-1">
        {onAgain && (
          <Button variant="ghost" size="sm" icon={<RotateCw />} onClick={onAgain}>
            Ask again
          </Button>
        )}
        {text !== "" && <CopyButton value={text} what="answer" />}
      </span>
    </footer>
  );
}

export interface Chat {
  exchanges: Exchange[];
  isRunning: boolean;
  /** @param config what is asked in place of the published version */
  send: (message: string, config: PromptPreviewInput | undefined) => void;
  /** Asks the last question once more, in place of what came of it. */
  again: (config: PromptPreviewInput | undefined) => void;
  /** Ends the call under way; what came so far stays. */
  stop: () => void;
  /** Forgets everything. */
  clear: () => void;
}

/** A conversation with an agent that lives as long as the page. */
export function useChat(agentId: string | undefined, projectId: string): Chat {
  const [exchanges, setExchanges] = useState<Exchange[]>([]);
  const call = useRef<AbortController | null>(null);
  const count = useRef(0);
  useEffect(() => () => call.current?.abort(), []);

  const change = useCallback((id: number, next: (exchange: Exchange) => Exchange) => {
    setExchanges((all) => all.map((one) => (one.id === id ? next(one) : one)));
  }, []);

  const isRunning = exchanges.at(-1)?.state === "running";
  const send = async (message: string, config: PromptPreviewInput | undefined, before: readonly Exchange[]) => {
    if (isRunning || message.trim() === "") return;
    count.current += 1;
    const id = count.current;
    const controller = new AbortController();
    call.current = controller;
    setExchanges([...before, newExchange(id, message, config !== undefined)]);
    const started = performance.now();
    const onEvent = (event: ChatEvent) => change(id, (exchange) => applyChatEvent(exchange, event));
    await import("#components/agents/chat-stream.ts")
      .then(({ streamChat }) =>
        streamChat({ agentId, config, projectId, message, history: historyOf(before), signal: controller.signal, onEvent }),
      )
      .catch((error: unknown) => onEvent({ type: "error", detail: errorBodyOf(error).detail }));
    const tookMs = performance.now() - started;
    change(id, (exchange) => ({ ...exchange, state: exchange.state === "running" ? "stopped" : exchange.state, tookMs }));
  };

  return {
    exchanges,
    isRunning,
    send: (message, config) => void send(message, config, exchanges),
    again: (config) => {
      const last = exchanges.at(-1);
      if (last) void send(last.message, config, exchanges.slice(0, -1));
    },
    stop: () => call.current?.abort(),
    clear: () => {
      call.current?.abort();
      setExchanges([]);
    },
  };
}
