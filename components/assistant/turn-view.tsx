"use client";

import { RotateCw, Settings, StepForward } from "lucide-react";
import { Fragment, memo, type ReactNode, useState } from "react";
import { PLACES } from "#components/assistant/composer.tsx";
import { ConfirmationCard, QuestionCard } from "#components/assistant/request-cards.tsx";
import { isUnderWay, type Part, progressOf, type ToolPart, type Turn, textOf } from "#components/assistant/thread-of.ts";
import { placeOf, ToolLine } from "#components/assistant/tool-line.tsx";
import { formatTokens } from "#components/format.ts";
import { Cost } from "#components/runs/cost.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { CopyButton } from "#components/ui/copy.tsx";
import { Link } from "#components/ui/link.tsx";
import { Markdown } from "#components/ui/loaded-markdown.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { Elapsed } from "#components/ui/time.tsx";

const CardLoading = () => <Skeleton className="h-40" />;
// They know every type of node, and most threads have none of them.
const ProposalCard = loadedOnUse(
  () => import("#components/assistant/proposal-card.tsx").then((module) => module.ProposalCard),
  CardLoading,
);
const ComparisonCard = loadedOnUse(
  () => import("#components/assistant/comparison-card.tsx").then((module) => module.ComparisonCard),
  CardLoading,
);

export interface TurnViewProps {
  turn: Turn;
  /** Writes another message. */
  onAsk: (prompt: string) => void;
  /** Takes back a message that nobody has begun to work on. */
  onTakeBack?: (turn: Turn) => void;
  isLast: boolean;
  /** So far up that it need not be drawn until somebody scrolls there. */
  isFar?: boolean;
}

/** What a person wrote, and what the assistant did about it. */
export const TurnView = memo(function TurnView({ turn, onAsk, onTakeBack, isLast, isFar = false }: TurnViewProps) {
  const { content, status } = turn;
  const isOver = !isUnderWay(turn);
  return (
    <li className={cn("flex min-w-0 flex-col gap-3", isFar && "[contain-intrinsic-size:auto_12rem] [content-visibility:auto]")}>
      <div className="flex max-w-[88%] flex-col items-end gap-1 self-end">
        <p className="whitespace-pre-wrap break-words rounded-xl rounded-br-sm bg-thread-soft px-3 py-2 text-14 text-ink [overflow-wrap:anywhere]">
          <span className="sr-only">You: </span>
          {content}
        </p>
        <About turn={turn} />
        {status === "queued" && (
          <p className="flex min-h-6 items-center gap-2 text-12 text-ink-faint">
            <span>Queued</span>
            {onTakeBack && (
              <button
                type="button"
                className="min-h-6 rounded-sm text-thread-text underline underline-offset-2 pointer-coarse:min-h-11"
                onClick={() => onTakeBack(turn)}
              >
                Take back
              </button>
            )}
          </p>
        )}
        {status === "taken_back" && <p className="text-12 text-ink-faint">Taken back before it was begun</p>}
      </div>
      {blocksOf(turn).map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts are only ever added at the end
        <Block key={index} block={block} isOver={isOver} onAsk={onAsk} />
      ))}
      {status === "working" && <Progress turn={turn} />}
      {isOver && status !== "taken_back" && <Ending turn={turn} onAsk={onAsk} isLast={isLast} />}
    </li>
  );
});

/** What went along with a message, and the way there. */
function About({ turn: { attached, context } }: { turn: Turn }) {
  if (attached.length === 0) return null;
  const { workflow_id, execution_id, node_id, canvas_id } = context;
  const refs = {
    workflow: { workflow_id },
    execution: { execution_id },
    node: { workflow_id, execution_id, node_id },
    canvas: { canvas_id },
  };
  return (
    <ul aria-label="About" className="flex max-w-full flex-wrap justify-end gap-x-3">
      {attached.map(({ kind, name }) => {
        const { icon: Icon, word } = PLACES[kind];
        return (
          <li key={kind} className="min-w-0">
            <Link
              href={placeOf(refs[kind])?.href ?? ""}
              className="flex min-h-6 items-center gap-1 rounded-sm text-12 text-ink-soft hover:text-ink hover:underline pointer-coarse:min-h-11"
            >
              <Icon aria-hidden className="size-3 shrink-0" />
              <span className="min-w-0 truncate">
                <span className={kind === "execution" ? "" : "sr-only"}>{word} </span>
                {name}
              </span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

/** Tools that follow one another stand in one list. */
type BlockOf = { kind: "tools"; tools: ToolPart[] } | Exclude<Part, ToolPart>;

/** Calls whose card says everything: a question, a change that is shown, and what waits for an approval. */
const isTold = ({ name, answer }: ToolPart, status: Turn["status"]) =>
  name === "ask_user" || (name === "propose_changes" && answer?.ok === true) || (status === "waiting" && answer === null);

function blocksOf({ parts, status }: Turn): BlockOf[] {
  const blocks: BlockOf[] = [];
  for (const part of parts) {
    const last = blocks.at(-1);
    if (part.kind !== "tool") blocks.push(part);
    else if (isTold(part, status)) continue;
    else if (last?.kind === "tools") last.tools.push(part);
    else blocks.push({ kind: "tools", tools: [part] });
  }
  return blocks;
}

function Block({ block, isOver, onAsk }: { block: BlockOf; isOver: boolean; onAsk: (prompt: string) => void }) {
  switch (block.kind) {
    case "text":
      return (
        <Markdown isGuide className="min-w-0">
          {block.text}
        </Markdown>
      );
    case "tools":
      return (
        <>
          <ul aria-label="What the assistant did" className="flex min-w-0 flex-col gap-1.5 border-l pl-3">
            {block.tools.map((tool, index) => (
              <ToolLine key={`${index.toString()} ${tool.id}`} part={tool} isRunning={!isOver} />
            ))}
          </ul>
          {block.tools.map((tool, index) => (
            <Comparison key={`${index.toString()} ${tool.id}`} tool={tool} />
          ))}
        </>
      );
    case "proposal":
      return <ProposalCard part={block} onAsk={onAsk} />;
    case "question":
      return <QuestionCard part={block} isOver={isOver} />;
    case "confirmation":
      return <ConfirmationCard part={block} isOver={isOver} />;
  }
}

/** Of a run that repeats another: both side by side. */
function Comparison({ tool }: { tool: ToolPart }) {
  const { execution_id, rerun_of } = tool.answer?.refs ?? {};
  if (!execution_id || !rerun_of) return null;
  const { proposal_id } = tool.args;
  return <ComparisonCard before={rerun_of} after={execution_id} proposalId={typeof proposal_id === "string" ? proposal_id : null} />;
}

function Progress({ turn }: { turn: Turn }) {
  const { usage } = turn;
  return (
    <p className="flex min-h-6 flex-wrap items-center gap-x-2 text-12 text-ink-soft tabular">
      <span aria-hidden className="inline-flex gap-0.75">
        {["", "[animation-delay:200ms]", "[animation-delay:400ms]"].map((delay) => (
          <span key={delay} className={`size-1 animate-breathe rounded-full bg-thread ${delay}`} />
        ))}
      </span>
      <span className="font-semibold">{progressOf(turn)}</span>
      <span className="text-ink-faint">
        <Elapsed since={turn.created_at} />
        {usage && (
          <>
            {" · "}
            {formatTokens(usage.input_tokens, usage.output_tokens)} tokens
            {" · "}
            <Cost cost={usage.cost} isLinked={false} />
          </>
        )}
      </span>
      <TellMe />
    </p>
  );
}

/** Where the browser has not been asked yet: whoever looks elsewhere meanwhile is told by it. */
function TellMe() {
  const [permission, setPermission] = useState(() => ("Notification" in window ? Notification.permission : "denied"));
  if (permission !== "default") return null;
  return (
    <button
      type="button"
      className="min-h-6 rounded-sm text-thread-text underline underline-offset-2 pointer-coarse:min-h-11"
      onClick={async () => setPermission(await Notification.requestPermission())}
    >
      Tell me when it is done
    </button>
  );
}

function Ending({ turn, onAsk, isLast }: TurnViewProps) {
  const { status, usage, error } = turn;
  const text = textOf(turn);
  return (
    <>
      {status === "stopped" && (
        <Quiet>
          Stopped.
          {isLast && (
            <Button size="sm" variant="ghost" icon={<StepForward />} onClick={() => onAsk("Go on.")}>
              Go on
            </Button>
          )}
        </Quiet>
      )}
      {status === "failed" && error !== null && <Failure error={error} turn={turn} onAsk={onAsk} isLast={isLast} />}
      {status === "done" && turn.parts.length === 0 && <Quiet>The model sent an empty answer.</Quiet>}
      {(usage || text !== "") && (
        <footer className="flex min-h-6 items-center gap-2 text-12 text-ink-faint tabular">
          {usage && (
            <span className="min-w-0">
              {formatTokens(usage.input_tokens, usage.output_tokens)} tokens{" · "}
              <Cost cost={usage.cost} />
            </span>
          )}
          {text !== "" && (
            <span className="ml-auto">
              <CopyButton value={text} what="answer" />
            </span>
          )}
        </footer>
      )}
    </>
  );
}

const Quiet = ({ children }: { children: ReactNode }) => (
  <p className="flex min-h-7 items-center gap-2 text-12 text-ink-faint">{children}</p>
);

function Failure({ error, turn, onAsk, isLast }: TurnViewProps & { error: string }) {
  // What was done is known.
  const isCutOff = turn.code === "cut_off" || turn.code === "bound";
  const actions = (
    <Fragment>
      {isLast && (
        <Button
          size="sm"
          icon={isCutOff ? <StepForward /> : <RotateCw />}
          onClick={() => onAsk(isCutOff || turn.parts.length > 0 ? "Go on." : turn.content)}
        >
          {isCutOff || turn.parts.length > 0 ? "Go on" : "Try again"}
        </Button>
      )}
      {(turn.code === "settings" || turn.code === "provider") && (
        <Button asChild size="sm" variant="ghost" icon={<Settings />}>
          <Link href="/settings/project#assistant">Open settings</Link>
        </Button>
      )}
    </Fragment>
  );
  return (
    <Notice tone={isCutOff ? "waiting" : "failed"} actions={actions}>
      {error}
    </Notice>
  );
}
