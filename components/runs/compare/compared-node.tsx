"use client";

import { useQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { formatCost, formatCount, formatDuration } from "#components/format.ts";
import { Part } from "#components/runs/compare/part.tsx";
import { SideTexts, type Titles } from "#components/runs/compare/side-texts.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { StatusBadge } from "#components/ui/status.tsx";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";
import type { ComparedNode, Comparison } from "#server/features/executions/schema.ts";

// It knows the fields of every type, and most runs are compared with runs of the same version.
const ChangedField = loadedOnUse(() => import("#components/runs/compare/changed-field.tsx").then((module) => module.ChangedField));

type Node = Comparison["nodes"][number];

interface NodeRowProps {
  node: Node;
  titles: Titles;
  ids: { a: string; b: string };
  isOpen: boolean;
}

/** One node in both runs: how it ended and what it took; opened, what was changed in it, what went in and what came out. */
export function NodeRow({ node, titles, ids, isOpen }: NodeRowProps) {
  const { label, node_type, same, changed, a, b } = node;
  return (
    <li className="min-w-0 rounded-lg border bg-surface">
      <details open={isOpen} className="group">
        <summary className="flex min-h-11 cursor-pointer flex-wrap items-center gap-x-3 gap-y-1 rounded-lg px-3 py-2 hover:bg-hover">
          <ChevronRight aria-hidden className="size-3.5 shrink-0 text-ink-faint transition-transform group-open:rotate-90" />
          <NodeIcon type={node_type} className="size-5" />
          <span className="font-semibold text-14">{label}</span>
          {changed.length > 0 && <Badge tone="thread">Changed</Badge>}
          {same ? <span className="text-12 text-ink-faint">Same result</span> : <span className="text-12 text-ink-soft">Other result</span>}
        </summary>
        <div className="flex flex-col gap-3 border-t p-3">
          <div className="grid gap-x-3 gap-y-1 md:grid-cols-2">
            <Figures title={titles.a} side={a} />
            <Figures title={titles.b} side={b} />
          </div>
          {changed.map(({ field, a: before, b: after }) => (
            <ChangedField key={field} type={node_type} field={field} before={before} after={after} titles={titles} />
          ))}
          <Part title="Output">
            <SideTexts titles={titles} a={a?.error ?? a?.output ?? null} b={b?.error ?? b?.output ?? null} />
            {(a?.truncated || b?.truncated) && <p className="text-12 text-ink-soft">Long outputs are compared by their beginning.</p>}
          </Part>
          {a && b && <Inputs nodeId={node.node_id} titles={titles} ids={ids} />}
        </div>
      </details>
    </li>
  );
}

function Figures({ title, side }: { title: string; side: ComparedNode | null }) {
  const tokens = side ? side.input_tokens + side.output_tokens : 0;
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-12 text-ink-soft tabular">
      <span className="font-semibold text-ink">{title}</span>
      {side ? (
        <>
          <StatusBadge status={side.status} />
          {side.reused && <span>Taken over</span>}
          {side.items !== null && <span>{formatCount(side.items)} items</span>}
          {side.duration_ms !== null && !side.reused && <span>{formatDuration(side.duration_ms)}</span>}
          {tokens > 0 && <span>{formatCount(tokens)} tokens</span>}
          {tokens > 0 && side.cost !== null && <span>{formatCost(side.cost)}</span>}
        </>
      ) : (
        <span>Not in its workflow</span>
      )}
    </p>
  );
}

/** What went into the node on both sides, once it is asked for: of the latest item of a loop. */
function Inputs({ nodeId, titles, ids }: { nodeId: string; titles: Titles; ids: { a: string; b: string } }) {
  const trpc = useTRPC();
  const [isAsked, setIsAsked] = useState(false);
  const options = { enabled: isAsked };
  const a = useQuery(trpc.executions.logs.queryOptions({ execution_id: ids.a, node_id: nodeId }, options));
  const b = useQuery(trpc.executions.logs.queryOptions({ execution_id: ids.b, node_id: nodeId }, options));
  if (!isAsked)
    return (
      <Button size="sm" variant="ghost" className="self-start" onClick={() => setIsAsked(true)}>
        Compare what went in
      </Button>
    );
  const failed = a.error ? a : b;
  if (failed.error) return <LoadFailure query={failed} />;
  if (!a.data || !b.data)
    return (
      <p role="status" className="text-12 text-ink-soft">
        Loading…
      </p>
    );
  return (
    <Part title="Input">
      <SideTexts titles={titles} a={a.data.items.at(-1)?.input ?? null} b={b.data.items.at(-1)?.input ?? null} />
    </Part>
  );
}
