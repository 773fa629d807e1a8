"use client";

import { useMutation } from "@tanstack/react-query";
import { Check, KeyRound, ShieldQuestion, X } from "lucide-react";
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import type { ConfirmationPart, QuestionPart } from "#components/assistant/thread-of.ts";
import { formatCount } from "#components/format.ts";
import { FormFailure } from "#components/forms/form.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { CodeBlock } from "#components/ui/code-block.tsx";
import { isFocusLost } from "#components/ui/focus.ts";
import { Input } from "#components/ui/input.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { MAX_ANSWER } from "#server/shared/message-length.ts";
import { visibleName } from "#server/shared/visible-text.ts";

const LOOKS = {
  quiet: "border-line-strong",
  /** The work waits for it. */
  waiting: "border-waiting/60 shadow-md",
  /** It may be decided whenever one likes. */
  offered: "border-thread/60 shadow-md",
} as const;

/** The frame of everything in a thread that asks somebody to act. */
export function Card({ label, look = "quiet", children }: { label: string; look?: keyof typeof LOOKS; children: ReactNode }) {
  const card = useRef<HTMLElement>(null);
  const before = useRef(look);
  /** Whether something in it had the focus last. */
  const hadFocus = useRef(false);
  useEffect(() => {
    const isDecided = before.current !== "quiet" && look === "quiet";
    before.current = look;
    // The button that decided it is gone, and the focus with it: whoever works by keyboard goes on from here. Where it was decided
    // elsewhere, as on the canvas, one goes on there.
    if (isDecided && hadFocus.current && isFocusLost()) card.current?.focus({ preventScroll: true });
  }, [look]);
  return (
    <section
      ref={card}
      tabIndex={-1}
      aria-label={label}
      onFocus={() => {
        hadFocus.current = true;
      }}
      onBlur={({ relatedTarget }) => {
        // To nothing it goes when its button is gone, or waits.
        if (relatedTarget) hadFocus.current = false;
      }}
      className={cn("flex min-w-0 flex-col gap-3 rounded-lg border bg-raised p-3.5 text-14 focus:outline-none", LOOKS[look])}
    >
      {children}
    </section>
  );
}

/** What came of a card, once it is decided. */
export function Outcome({ isGood, children }: { isGood: boolean; children: ReactNode }) {
  const Icon = isGood ? Check : X;
  return (
    <p className={cn("flex items-start gap-1.5 text-12", isGood ? "text-complete" : "text-ink-soft")}>
      <Icon aria-hidden className="mt-0.75 size-3 shrink-0" />
      <span className="min-w-0 [overflow-wrap:anywhere]">{children}</span>
    </p>
  );
}

/** A question with its options; one that asks for a secret opens the form that keeps it. */
export function QuestionCard({ part, isOver }: { part: QuestionPart; isOver: boolean }) {
  const { id, text, options, form, ending } = part;
  const trpc = useTRPC();
  const answer = useMutation(trpc.assistant.answer.mutationOptions());
  const [isWriting, setIsWriting] = useState(options.length === 0 && form === undefined);
  const say = (words: string) => answer.mutate({ question_id: id, answer: words });
  const isOpen = ending === null && !isOver;
  // The answer stays in the card until the thread's own event tells it.
  const isSent = answer.isPending || answer.isSuccess;
  return (
    <Card label="Question" look={isOpen ? "waiting" : "quiet"}>
      <p className="whitespace-pre-wrap break-words font-semibold text-ink">{text}</p>
      {!isOpen && (
        <Outcome isGood={ending?.outcome === "answered"}>{ending?.outcome === "answered" ? ending.answer : "Not answered"}</Outcome>
      )}
      {isOpen && (
        <>
          {form && <FormAnswer form={form} isSent={isSent} onDone={say} />}
          <div className="flex flex-col gap-1.5">
            {options.map((option) => (
              <OptionButton key={option} disabled={isSent} onClick={() => say(option)}>
                {option}
              </OptionButton>
            ))}
            {!isWriting && (
              <OptionButton isQuiet disabled={isSent} onClick={() => setIsWriting(true)}>
                Something else
              </OptionButton>
            )}
          </div>
          {isWriting && <WrittenAnswer isSent={isSent} onAnswer={say} hasFocus={options.length > 0 || form !== undefined} />}
          <FormFailure failure={answer.error ? errorBodyOf(answer.error) : null} />
        </>
      )}
    </Card>
  );
}

function OptionButton({
  isQuiet = false,
  disabled,
  onClick,
  children,
}: {
  isQuiet?: boolean;
  disabled: boolean;
  onClick: () => void;
  children: ReactNode;
}) {
  return (
    <button
      type="button"
      disabled={disabled}
      onClick={onClick}
      className={cn(
        "min-h-8 rounded-md border px-3 py-1.5 text-left text-14 transition-colors hover:border-thread hover:bg-thread-soft disabled:pointer-events-none disabled:opacity-55 pointer-coarse:min-h-11",
        isQuiet ? "border-line border-dashed text-ink-soft" : "border-line-strong bg-surface text-ink",
      )}
    >
      {children}
    </button>
  );
}

function WrittenAnswer({ isSent, onAnswer, hasFocus }: { isSent: boolean; onAnswer: (words: string) => void; hasFocus: boolean }) {
  const [words, setWords] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (words.trim()) onAnswer(words.trim());
  };
  return (
    <form onSubmit={submit} className="flex gap-2">
      <Input
        aria-label="Your answer"
        autoFocus={hasFocus}
        value={words}
        maxLength={MAX_ANSWER}
        onChange={(event) => setWords(event.target.value)}
      />
      <Button type="submit" variant="primary" isPending={isSent} disabled={words.trim() === ""}>
        Answer
      </Button>
    </form>
  );
}

const AddKeyDialog = loadedOnUse(() => import("#components/keys/key-dialogs.tsx").then((module) => module.AddKeyDialog));
const AddCredentialDialog = loadedOnUse(() =>
  import("#components/settings/credential-dialog.tsx").then((module) => module.AddCredentialDialog),
);
const ConnectDialog = loadedOnUse(() => import("#components/mcp/server-dialogs.tsx").then((module) => module.ConnectDialog));

type Form = NonNullable<QuestionPart["form"]>;

const FORMS = {
  llm_key: { button: "Add LLM key", needs: "admin" },
  credential: { button: "Add credential", needs: "admin" },
  mcp_server: { button: "Connect MCP server", needs: "editor" },
} as const satisfies Record<Form, { button: string; needs: "admin" | "editor" }>;

/** Opens the form for what must not stand in a thread; what was filled in is told by its name alone. */
function FormAnswer({ form, isSent, onDone }: { form: Form; isSent: boolean; onDone: (words: string) => void }) {
  const { canAdminister, canEdit } = useStudio();
  const [isOpen, setIsOpen] = useState(false);
  const { button, needs } = FORMS[form];
  const close = () => setIsOpen(false);
  const done = (name: string) => {
    close();
    onDone(`Done: “${name}” is there.`);
  };
  if (needs === "admin" ? !canAdminister : !canEdit)
    return (
      <p className="text-12 text-ink-soft">
        Only {needs === "admin" ? "an admin" : "an editor"} of the project can do that. Ask one, then say “Done”.{" "}
        <Button size="sm" disabled={isSent} onClick={() => onDone("Done.")} className="ml-1">
          Done
        </Button>
      </p>
    );
  return (
    <div className="flex flex-wrap gap-2">
      <Button variant="primary" icon={<KeyRound />} disabled={isSent} onClick={() => setIsOpen(true)}>
        {button}
      </Button>
      <Button disabled={isSent} onClick={() => onDone("Done.")}>
        Done
      </Button>
      {isOpen && form === "llm_key" && <AddKeyDialog onClose={close} onAdded={({ name }) => done(name)} />}
      {isOpen && form === "credential" && <AddCredentialDialog onClose={close} onAdded={({ name }) => done(name)} />}
      {isOpen && form === "mcp_server" && <ConnectDialog onClose={close} onConnected={({ name }) => done(name)} />}
    </div>
  );
}

/** Something that is done only if a person approves it. */
export function ConfirmationCard({ part, isOver }: { part: ConfirmationPart; isOver: boolean }) {
  const { id, action, summary, details, ending } = part;
  const trpc = useTRPC();
  const decide = useMutation(trpc.assistant.decide.mutationOptions());
  const isOpen = ending === null && !isOver;
  const isSent = decide.isPending || decide.isSuccess;
  const say = (decision: "approved" | "rejected") => decide.mutate({ confirmation_id: id, decision });
  return (
    <Card label="Confirmation" look={isOpen ? "waiting" : "quiet"}>
      <div className="flex gap-2.5">
        <ShieldQuestion aria-hidden className={cn("mt-0.5 size-4 shrink-0", isOpen ? "text-waiting" : "text-ink-faint")} />
        <div className="flex min-w-0 flex-col gap-1">
          <h4 className="break-words font-semibold text-14 text-ink">{visibleName(action)}</h4>
          <p className="whitespace-pre-line break-words text-12 text-ink-soft">{visibleName(summary)}</p>
          {details.map(({ label, text }) => (
            <details key={label} className="text-12">
              <summary className="cursor-pointer rounded-sm py-1 text-ink-soft hover:text-ink">
                Show all of {label} ({formatCount(text.length)} characters)
              </summary>
              <CodeBlock code={visibleName(text)} label={label} wraps className="max-h-80 overflow-y-auto" />
            </details>
          ))}
        </div>
      </div>
      {!isOpen && <Outcome isGood={ending?.outcome === "approved"}>{ending?.outcome === "approved" ? "Approved" : "Rejected"}</Outcome>}
      {isOpen && (
        <>
          <FormFailure failure={decide.error ? errorBodyOf(decide.error) : null} />
          <div className="flex gap-2">
            <Button variant="primary" icon={<Check />} disabled={isSent} onClick={() => say("approved")}>
              Approve
            </Button>
            <Button icon={<X />} disabled={isSent} onClick={() => say("rejected")}>
              Reject
            </Button>
          </div>
        </>
      )}
    </Card>
  );
}
