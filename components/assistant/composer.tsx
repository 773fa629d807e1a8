"use client";

import { ArrowUp, AtSign, ChartColumn, CircleDot, type LucideIcon, Play, Square, Workflow, X } from "lucide-react";
import { type FormEvent, type KeyboardEvent, type RefObject, useId, useMemo, useState } from "react";
import {
  type Draft,
  type Mention,
  matching,
  mentionAt,
  mentionsIn,
  NO_DRAFT,
  withMention,
  withoutMention,
} from "#components/assistant/draft.ts";
import { MentionMenu, mentionKinds, mentionOptionId, useMentions } from "#components/assistant/mention-menu.tsx";
import { isComposing } from "#components/is-composing.ts";
import type { AssistantPlace } from "#components/shell/assistant.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { cn } from "#components/ui/cn.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Tooltip } from "#components/ui/tooltip.tsx";
import type { MessageContext, MessageMode } from "#server/features/assistant/schema.ts";
import { MAX_ANSWER, MAX_MESSAGE } from "#server/shared/message-length.ts";

type PlaceKind = keyof AssistantPlace;

export const PLACES: Record<PlaceKind, { word: string; icon: LucideIcon }> = {
  workflow: { word: "Workflow", icon: Workflow },
  execution: { word: "Run of", icon: Play },
  node: { word: "Node", icon: CircleDot },
  canvas: { word: "Dashboard", icon: ChartColumn },
};

/** A message's context as the server takes it. */
export const contextOf = ({ workflow, execution, node, canvas }: AssistantPlace, mentions: readonly Mention[] = []): MessageContext => ({
  ...(workflow && { workflow_id: workflow.id }),
  ...(execution && { execution_id: execution.id }),
  // A node says nothing without what it belongs to.
  ...(node && (workflow || execution) && { node_id: node.id }),
  ...(canvas && { canvas_id: canvas.id }),
  ...(mentions.length > 0 && { mentions: mentions.slice(0, 20).map(({ kind, id }) => ({ kind, id })) }),
});

export interface ComposerProps {
  draft: Draft;
  onDraftChange: (draft: Draft) => void;
  /** What the message is about beside what it names. */
  place: AssistantPlace;
  onTakeOff: (kind: PlaceKind) => void;
  onSend: (content: string, mode: MessageMode, context: MessageContext) => void;
  /** A message is under way; another one can follow it. */
  isSending: boolean;
  /** What is written answers a question. */
  isAnswer: boolean;
  /** The answer is under way; until the thread has it, what follows would answer the same question. */
  isAnswering: boolean;
  /** Given while something is under way. */
  onStop: (() => void) | null;
  isStopping: boolean;
  isReady: boolean;
  field: RefObject<HTMLTextAreaElement | null>;
}

/** Where one writes: Enter sends, Shift+Enter begins a line, @ names something. */
export function Composer({
  draft,
  onDraftChange,
  place,
  onTakeOff,
  onSend,
  isSending,
  isAnswer,
  isAnswering,
  onStop,
  isStopping,
  isReady,
  field,
}: ComposerProps) {
  const { canEdit } = useStudio();
  const listId = useId();
  const [caret, setCaret] = useState(0);
  const [active, setActive] = useState(0);
  // The query for which Esc was pressed stays closed.
  const [dismissed, setDismissed] = useState<number | null>(null);
  const query = mentionAt(draft, caret);
  const isAsking = query !== null && query.from !== dismissed;
  const { mentions, isPending } = useMentions(isAsking, place.workflow?.id);
  const offered = useMemo(() => (isAsking ? matching(mentions, query.query) : []), [isAsking, mentions, query?.query]);
  // A space after what nothing is called ends the search: it was an @ of the text.
  const isMenuOpen = isAsking && (offered.length > 0 || !/\s/.test(query.query));
  const mode = canEdit ? draft.mode : "ask";
  const length = draft.text.trim().length;
  const most = isAnswer ? MAX_ANSWER : MAX_MESSAGE;
  const isBusy = isSending || isAnswering;
  const canSend = isReady && !isAnswering && length > 0 && length <= most;

  const write = (text: string, at: number) => {
    onDraftChange({ ...draft, text });
    setCaret(at);
    setActive(0);
  };
  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (canSend) onSend(draft.text.trim(), mode, contextOf(place, mentionsIn(draft)));
  };
  const choose = (mention: Mention) => {
    if (!query) return;
    const next = withMention(draft, query.from, caret, mention);
    onDraftChange(next.draft);
    setCaret(next.caret);
    // When React has written the text.
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(next.caret, next.caret);
    });
  };
  const begin = () => {
    const at = field.current?.selectionStart ?? draft.text.length;
    const before = draft.text.slice(0, at);
    const written = `${before}${before === "" || /\s$/.test(before) ? "" : " "}@`;
    onDraftChange({ ...draft, text: written + draft.text.slice(at) });
    setCaret(written.length);
    setDismissed(null);
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(written.length, written.length);
    });
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (isComposing(event)) return;
    if (isMenuOpen) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step !== undefined && offered.length > 0) {
        event.preventDefault();
        return setActive((active + step + offered.length) % offered.length);
      }
      const chosen = offered[active];
      if ((event.key === "Enter" || event.key === "Tab") && chosen) {
        event.preventDefault();
        return choose(chosen);
      }
      if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        return setDismissed(query?.from ?? null);
      }
    }
    if (event.key === "Enter" && !event.shiftKey) send(event);
  };

  return (
    <form onSubmit={send} className="relative flex flex-col">
      {isMenuOpen && (
        <MentionMenu id={listId} mentions={offered} active={active} isPending={isPending} onActive={setActive} onChoose={choose} />
      )}
      <div className="flex flex-col rounded-lg border border-line-control bg-raised transition-[border-color] focus-within:border-thread focus-within:outline-2 focus-within:outline-thread/35">
        <Chips draft={draft} place={place} onTakeOff={onTakeOff} onDraftChange={onDraftChange} />
        <textarea
          ref={field}
          aria-label="Message"
          aria-autocomplete="list"
          {...(isMenuOpen && { "aria-controls": listId })}
          {...(isMenuOpen && offered.length > 0 && { "aria-activedescendant": mentionOptionId(listId, active) })}
          rows={2}
          aria-invalid={length > most || undefined}
          value={draft.text}
          placeholder={isBusy ? "Sending…" : isAnswer ? "Answer, or choose above." : PLACEHOLDERS[mode]}
          onChange={({ target }) => write(target.value, target.selectionStart)}
          onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
          onBlur={() => setDismissed(query?.from ?? null)}
          onFocus={() => setDismissed(null)}
          className="field-sizing-content max-h-60 min-h-14 w-full resize-none bg-transparent px-3 py-2.5 text-14 text-ink outline-none pointer-coarse:text-16"
        />
        {length > most && (
          // Cut at the limit, a text that somebody pastes would lose its end without a word.
          <p role="alert" className="px-3 pb-1.5 text-12 text-failed">
            {isAnswer ? "An answer" : "A message"} has at most {most.toLocaleString("en")} characters; this one has{" "}
            {length.toLocaleString("en")}.
          </p>
        )}
        <div className="flex items-center gap-1 p-1.5 pt-0">
          {canEdit && <ModeSwitch mode={mode} onChange={(next) => onDraftChange({ ...draft, mode: next })} />}
          <IconButton label="Name something" icon={<AtSign />} onClick={begin} className="pointer-coarse:size-10" />
          <span className="ml-auto flex items-center gap-1.5">
            {onStop && (
              <RoundButton label="Stop" isPending={isStopping} isPrimary={!canSend} onClick={onStop}>
                <Square fill="currentColor" className="size-3" />
              </RoundButton>
            )}
            {(!onStop || canSend || isBusy) && (
              <RoundButton label="Send" type="submit" isPending={isBusy && !canSend} disabled={!canSend} isPrimary>
                <ArrowUp className="size-4" />
              </RoundButton>
            )}
          </span>
        </div>
      </div>
    </form>
  );
}

interface RoundButtonProps {
  label: string;
  type?: "button" | "submit";
  isPrimary: boolean;
  isPending: boolean;
  disabled?: boolean;
  onClick?: () => void;
  children: React.ReactNode;
}

function RoundButton({ label, type = "button", isPrimary, isPending, disabled = false, onClick, children }: RoundButtonProps) {
  return (
    <Tooltip content={label}>
      <button
        type={type}
        aria-label={label}
        aria-busy={isPending || undefined}
        disabled={disabled || isPending}
        onClick={onClick}
        className={cn(
          "inline-flex size-8 items-center justify-center rounded-full transition-colors disabled:cursor-not-allowed disabled:bg-sunken disabled:text-ink-faint pointer-coarse:size-10",
          isPrimary ? "bg-thread text-on-thread hover:bg-thread-strong" : "bg-sunken text-ink hover:bg-press",
        )}
      >
        {children}
      </button>
    </Tooltip>
  );
}

const PLACEHOLDERS: Record<MessageMode, string> = {
  ask: "Ask about anything here. @ names something.",
  build: "Ask, or say what to build. @ names something.",
};

const MODES: Record<MessageMode, { label: string; hint: string }> = {
  ask: { label: "Ask", hint: "Looks and answers, changes nothing" },
  build: { label: "Build", hint: "Proposes changes and runs them for you" },
};

function ModeSwitch({ mode, onChange }: { mode: MessageMode; onChange: (mode: MessageMode) => void }) {
  return (
    <fieldset className="flex rounded-md bg-sunken p-0.5">
      <legend className="sr-only">Mode</legend>
      {(Object.keys(MODES) as MessageMode[]).map((key) => (
        <Tooltip key={key} content={MODES[key].hint}>
          <label className="inline-flex h-6 cursor-pointer items-center rounded-sm px-2 font-semibold text-12 text-ink-soft hover:text-ink has-checked:bg-raised has-checked:text-ink has-checked:shadow-sm has-focus-visible:outline-2 has-focus-visible:outline-thread pointer-coarse:h-9 pointer-coarse:px-3">
            <input type="radio" name="assistant-mode" checked={key === mode} onChange={() => onChange(key)} className="sr-only" />
            {MODES[key].label}
          </label>
        </Tooltip>
      ))}
    </fieldset>
  );
}

function Chips({ draft, place, onTakeOff, onDraftChange }: Pick<ComposerProps, "draft" | "place" | "onTakeOff" | "onDraftChange">) {
  const kinds = (Object.keys(PLACES) as PlaceKind[]).filter((kind) => place[kind]);
  const named = mentionsIn(draft);
  if (kinds.length + named.length === 0) return null;
  return (
    <ul aria-label="Attached" className="flex flex-wrap gap-1 px-2 pt-2">
      {kinds.map((kind) => (
        <Chip
          key={kind}
          icon={PLACES[kind].icon}
          word={PLACES[kind].word}
          name={place[kind]?.name ?? ""}
          onRemove={() => onTakeOff(kind)}
        />
      ))}
      {named.map((mention) => (
        <Chip
          key={`${mention.kind} ${mention.id}`}
          icon={mentionKinds[mention.kind].icon}
          name={mention.name}
          onRemove={() => onDraftChange(withoutMention(draft, mention))}
        />
      ))}
    </ul>
  );
}

function Chip({ icon: Icon, word, name, onRemove }: { icon: LucideIcon; word?: string; name: string; onRemove: () => void }) {
  return (
    <li className="inline-flex h-6 max-w-full items-center gap-1 rounded-md bg-sunken pr-0.5 pl-1.5 text-12 text-ink-soft pointer-coarse:h-9">
      <Icon aria-hidden className="size-3 shrink-0" />
      <span className="min-w-0 truncate">
        {word && <span className={word === PLACES.execution.word ? "" : "sr-only"}>{word} </span>}
        <span className="text-ink">{name}</span>
      </span>
      <button
        type="button"
        aria-label={`Take off ${name}`}
        onClick={onRemove}
        className="inline-flex size-5 shrink-0 items-center justify-center rounded-sm hover:bg-press pointer-coarse:size-8"
      >
        <X aria-hidden className="size-3" />
      </button>
    </li>
  );
}

/** The draft after its message has been sent. */
export const afterSending = ({ mode }: Draft): Draft => ({ ...NO_DRAFT, mode });
