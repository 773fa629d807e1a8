"use client";

import { Check, ChevronRight, LoaderCircle, X } from "lucide-react";
import { SourceList } from "#components/runs/sources.tsx";
import { cn } from "#components/ui/cn.ts";
import { Link } from "#components/ui/link.tsx";
import { ValueView } from "#components/ui/value-view.tsx";
import { useAgentNames } from "#components/workflow-editor/nodes/project-lookups.tsx";
import type { RunToolCall, ToolSource } from "#server/runs/tool-call-schema.ts";

/** One use of a tool; `answer` is null while there is none. */
interface ToolUse {
  name: string;
  args: Record<string, unknown>;
  answer: { result: string; success: boolean; sources?: ToolSource[] | undefined } | null;
}

/** The first of the arguments that says something, for the line of a closed step. */
function summaryOf(args: Record<string, unknown>): string {
  const value = Object.values(args).find((one) => typeof one === "string" || typeof one === "number");
  return value === undefined ? "" : String(value);
}

/** One use of a tool: a line that opens to its arguments and its result. */
export function ToolStep({ part: { name, args, answer }, isRunning }: { part: ToolUse; isRunning: boolean }) {
  const state = answer ? (answer.success ? "Done" : "Failed") : isRunning ? "Running" : "Stopped";
  return (
    <details className="group min-w-0 rounded-md border bg-raised text-12">
      <summary className="flex min-h-8 cursor-pointer list-none items-center gap-2 px-2.5 text-ink-soft hover:text-ink pointer-coarse:min-h-11 [&::-webkit-details-marker]:hidden">
        <ChevronRight aria-hidden className="size-3.5 shrink-0 transition-transform group-open:rotate-90" />
        <span className="shrink-0 font-semibold font-mono text-ink">{name}</span>
        <span className="min-w-0 flex-1 truncate">{summaryOf(args)}</span>
        <span className="sr-only">{state}</span>
        <StateMark state={state} />
      </summary>
      <div className="flex min-w-0 flex-col gap-3 border-t px-3 py-2.5">
        <Part title="Arguments">
          <ValueView value={JSON.stringify(args)} what="arguments" />
        </Part>
        {answer && (
          <Part title={answer.success ? "Result" : "What went wrong"}>
            <div className="max-h-80 overflow-y-auto whitespace-pre-wrap break-words">
              <ValueView value={answer.result} what="result" />
            </div>
          </Part>
        )}
        {answer?.sources && (
          <Part title="What it read">
            <SourceList sources={answer.sources} label="What it read" hasExcerpts />
          </Part>
        )}
      </div>
    </details>
  );
}

function StateMark({ state }: { state: "Done" | "Failed" | "Running" | "Stopped" }) {
  const look = "size-3.5 shrink-0";
  if (state === "Done") return <Check aria-hidden className={cn(look, "text-complete")} />;
  if (state === "Running") return <LoaderCircle aria-hidden className={cn(look, "text-running motion-safe:animate-spin")} />;
  return <X aria-hidden className={cn(look, state === "Failed" ? "text-failed" : "text-ink-faint")} />;
}

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <h4 className="font-semibold text-12 text-ink-faint">{title}</h4>
      {children}
    </div>
  );
}

/** The tool calls that an agent made in a run, in the order in which they began. */
export function ToolCalls({ calls }: { calls: readonly RunToolCall[] }) {
  return (
    <ol className="flex flex-col gap-2">
      {calls.map(({ name, args, result, success = true, sources }, index) => (
        <li key={index.toString()}>
          <ToolStep part={{ name, args, answer: result === undefined ? null : { result, success, sources } }} isRunning={false} />
        </li>
      ))}
    </ol>
  );
}

/** Which version of an agent was asked, with the way to it. */
export function AgentVersionLink({ agentId, version, className = "" }: { agentId: string; version: number; className?: string }) {
  const name = useAgentNames().agentName(agentId);
  return (
    <Link href={`/agents/${agentId}?history=${version}`} className={cn("text-thread-text hover:underline", className)}>
      {name ? `${name}, version ${version}` : `Version ${version} of the agent`}
    </Link>
  );
}

/** Under or above an agent's answer that ended at the limit of its length. */
export const TruncatedAnswerNote = ({ className = "" }: { className?: string }) => (
  <p className={`text-12 text-waiting ${className}`}>
    The answer ends at the limit of its length and may be cut: raise “Longest answer” of the agent.
  </p>
);
