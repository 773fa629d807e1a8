"use client";

import { ArrowUpRight, Check, LoaderCircle, X } from "lucide-react";
import type { ToolPart } from "#components/assistant/thread-of.ts";
import { AddToCanvasButton } from "#components/shell/add-to-canvas.tsx";
import { cn } from "#components/ui/cn.ts";
import { Link } from "#components/ui/link.tsx";
import type { ToolRefs } from "#server/features/assistant/schema.ts";

/** What is said of a call that is under way. */
const DOING: Readonly<Record<string, string>> = {
  list_workflows: "Looking at the workflows",
  get_workflow: "Reading the workflow",
  create_workflow: "Making a workflow",
  propose_changes: "Drawing the change",
  list_agents: "Looking at the agents",
  get_agent: "Reading the agent",
  create_agent: "Making an agent",
  update_agent: "Changing the agent",
  list_resources: "Looking at what the project has",
  run_workflow: "Running the workflow",
  get_run: "Reading the run",
  list_runs: "Looking at the runs",
  get_run_log: "Reading the run's log",
  rerun_from_node: "Running it again from the node",
  decide_review: "Deciding the review",
  get_canvas: "Reading the dashboard",
  search_guide: "Searching the guide",
};

/** Calls that end with a run and what it gave. */
const SHOWS_A_RUN: ReadonlySet<string> = new Set(["run_workflow", "get_run", "rerun_from_node"]);

/** The place that a call dealt with, and how its link is called; null where there is none to go to. */
export function placeOf({
  page,
  execution_id,
  agent_id,
  canvas_id,
  workflow_id,
  node_id,
}: ToolRefs): { href: string; label: string } | null {
  // A path of the guide and nothing else: what a tool tells is data.
  if (page?.startsWith("/docs/") || page === "/docs") return { href: page, label: "Guide" };
  const node = node_id ? `?node=${encodeURIComponent(node_id)}` : "";
  if (execution_id) return { href: `/runs/${encodeURIComponent(execution_id)}${node}`, label: "Run" };
  if (canvas_id) return { href: `/canvases/${encodeURIComponent(canvas_id)}`, label: "Canvas" };
  if (agent_id) return { href: `/agents/${encodeURIComponent(agent_id)}`, label: "Agent" };
  if (workflow_id) return { href: `/workflows/${encodeURIComponent(workflow_id)}${node}`, label: "Workflow" };
  return null;
}

/** One use of a tool as one quiet line: how it went, what came of it, and where to look. */
export function ToolLine({ part: { name, answer }, isRunning }: { part: ToolPart; isRunning: boolean }) {
  const place = answer && placeOf(answer.refs);
  const doing = DOING[name] ?? name.replaceAll("_", " ");
  const state = answer ? (answer.ok ? "Done" : "Failed") : isRunning ? "Running" : "Ended";
  const Icon = answer?.ok ? Check : answer || !isRunning ? X : LoaderCircle;
  return (
    <li className="flex min-w-0 items-start gap-2 text-12 text-ink-soft">
      <Icon
        aria-hidden
        className={cn(
          "mt-0.75 size-3 shrink-0",
          answer?.ok ? "text-complete" : answer ? "text-waiting" : isRunning ? "text-running motion-safe:animate-spin" : "text-ink-faint",
        )}
      />
      <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <span className="sr-only">{state}: </span>
        <span className="line-clamp-3">{answer?.summary || (answer || isRunning ? doing : `${doing}: not finished`)}</span>
      </span>
      {answer?.ok && SHOWS_A_RUN.has(name) && answer.refs.workflow_id && (
        <AddToCanvasButton
          source={{ workflow_id: answer.refs.workflow_id, output_label: null, name: "What the run gives" }}
          variant="ghost"
          className="-my-1 h-6 px-1.5"
        />
      )}
      {place && (
        <Link
          href={place.href}
          className="inline-flex min-h-6 shrink-0 items-center gap-0.5 rounded-sm font-semibold text-thread-text hover:underline -my-0.75 pointer-coarse:min-h-11 pointer-coarse:-my-2"
        >
          {place.label}
          <ArrowUpRight aria-hidden className="size-3" />
        </Link>
      )}
    </li>
  );
}
