"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { Check, GitPullRequestArrow, Maximize, TriangleAlert, X } from "lucide-react";
import { useMemo, useState } from "react";
import { Card, Outcome } from "#components/assistant/request-cards.tsx";
import type { ProposalPart } from "#components/assistant/thread-of.ts";
import { plural } from "#components/format.ts";
import { FormFailure } from "#components/forms/form.tsx";
import { useAssistantState } from "#components/shell/assistant.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useWorkflowNames } from "#components/shell/use-workflows.ts";
import { errorBodyOf, isMissing, useApi, useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { Link } from "#components/ui/link.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { splitAtChange } from "#components/ui/split-at-change.ts";
import { toast } from "#components/ui/toaster.tsx";
import { accessibleName } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { fieldTitle, formatDiff, formatEdge, formatFieldValue } from "#components/workflow-editor/history/version-format.ts";
import { AgentNamesProvider, useAgentNames } from "#components/workflow-editor/nodes/project-lookups.tsx";
import { diffGraphs, type NodeDiff, type NodeDiffKind, saidFields } from "#server/workflow/diff.ts";

/** A change of a workflow that waits for somebody: what it does in words, and Accept and Reject. */
export function ProposalCard(props: { part: ProposalPart; onAsk: (prompt: string) => void }) {
  return (
    <AgentNamesProvider>
      <Proposed {...props} />
    </AgentNamesProvider>
  );
}

/** How long an acceptance can be undone by a click where no canvas is open that could do it later, in milliseconds. */
const UNDO_MS = 20_000;

/** Accepts or rejects a proposal where its workflow is open, or else at the server. */
export function useProposalDecision({ id, workflow_id }: { id: string; workflow_id: string }) {
  const { trpc, client, cache } = useApi();
  const desk = useAssistantState().desk;
  const open = desk?.workflow_id === workflow_id ? desk : null;
  const changed = () => cache.invalidateQueries(trpc.workflows.pathFilter());
  const accept = async () => {
    const { draft: before } = await client.workflows.editor.query({ workflow_id });
    const { draft } = await client.assistant.acceptProposal.mutate({ proposal_id: id });
    const undo = async () => {
      try {
        const { nodes, edges } = before;
        await client.workflows.saveDraft.mutate({ workflow_id, nodes, edges, revision: draft.revision });
        toast.success("Changes undone");
      } catch (failure) {
        toast.error(errorBodyOf(failure).detail);
      }
      await changed();
    };
    // What came in between is somebody else's, and is not undone with it.
    const isNext = draft.revision === before.revision + 1;
    const offer = { duration: UNDO_MS, action: { label: "Undo", onClick: () => void undo() } };
    toast.success("The changes are in the draft", isNext ? offer : {});
  };
  const decision = useMutation({
    mutationFn: async (verdict: "accept" | "reject") => {
      if (open) return open[verdict](id);
      if (verdict === "accept") await accept();
      else await client.assistant.rejectProposal.mutate({ proposal_id: id });
    },
    onSettled: () => {
      void cache.invalidateQueries(trpc.assistant.getProposal.queryFilter({ proposal_id: id }));
      void changed();
    },
  });
  return { decision, open };
}

/** What would stop a run, and whether that is the proposal's doing. */
function problemsInWords(problems: ProposalPart["problems"]): string {
  const fresh = problems.filter(({ is_new }) => is_new).length;
  const before = problems.length - fresh;
  if (before === 0) return `${plural(fresh, "thing")} would stop a run`;
  if (fresh === 0) return `${plural(before, "thing")} would stop a run, as before`;
  return `${plural(problems.length, "thing")} would stop a run: ${fresh} new, ${before} ${before === 1 ? "was" : "were"} there before`;
}

function Proposed({ part, onAsk }: { part: ProposalPart; onAsk: (prompt: string) => void }) {
  const { id, workflow_id, summary, status } = part;
  const problems = part.problems.filter(({ severity }) => severity === "error");
  const { canEdit } = useStudio();
  const { decision, open } = useProposalDecision(part);
  const isGone = useIsGone(part);
  const isOpen = status === "open" && !isGone;
  const isSent = decision.isPending || decision.isSuccess;
  return (
    <Card label="Proposed change" look={isOpen ? "offered" : "quiet"}>
      <div className="flex gap-2.5">
        <GitPullRequestArrow aria-hidden className={cn("mt-0.5 size-4 shrink-0", isOpen ? "text-thread-text" : "text-ink-faint")} />
        <h4 className="min-w-0 break-words font-semibold text-14 text-ink">{summary}</h4>
      </div>
      <Changes proposalId={id} />
      {problems.length > 0 && isOpen && (
        <div className="flex gap-2 rounded-md bg-waiting-soft px-2.5 py-2 text-12">
          <TriangleAlert aria-hidden className="mt-0.5 size-3.5 shrink-0 text-waiting" />
          <div className="min-w-0">
            <p className="font-semibold">{problemsInWords(problems)}</p>
            <ul className="mt-0.5 list-disc pl-4">
              {problems.slice(0, 5).map(({ node_id, field, message }) => (
                <li key={`${node_id} ${field} ${message}`} className="break-words">
                  {message}
                </li>
              ))}
            </ul>
          </div>
        </div>
      )}
      {isGone && <Outcome isGood={false}>Its workflow was deleted.</Outcome>}
      {status === "accepted" && !isGone && (
        <>
          <Outcome isGood>Accepted. It is in the draft; what runs is the published version.</Outcome>
          {!open && (
            <Button asChild size="sm" className="self-start">
              <Link href={`/workflows/${workflow_id}`}>Open the workflow</Link>
            </Button>
          )}
        </>
      )}
      {status === "replaced" && <Outcome isGood={false}>Replaced by a newer proposal. Nothing was changed.</Outcome>}
      {status === "rejected" && <Outcome isGood={false}>Rejected. Nothing was changed.</Outcome>}
      {status === "conflict" && (
        <>
          <Outcome isGood={false}>This proposal is out of date: the same fields were changed after it was made.</Outcome>
          <Button size="sm" className="self-start" onClick={() => onAsk("Look at the workflow as it is now and propose the change again.")}>
            Ask again
          </Button>
        </>
      )}
      {isOpen && (
        <>
          <FormFailure failure={decision.error ? errorBodyOf(decision.error) : null} />
          <div className="flex flex-wrap gap-2">
            {canEdit && (
              <>
                <Button variant="primary" icon={<Check />} disabled={isSent} onClick={() => decision.mutate("accept")}>
                  Accept
                </Button>
                <Button icon={<X />} disabled={isSent} onClick={() => decision.mutate("reject")}>
                  Reject
                </Button>
              </>
            )}
            {open ? (
              <Button variant="ghost" icon={<Maximize />} onClick={() => open.show(id)}>
                Show on canvas
              </Button>
            ) : (
              <Button asChild variant="ghost" icon={<Maximize />}>
                <Link href={`/workflows/${workflow_id}?proposal=${id}`}>Show on canvas</Link>
              </Button>
            )}
          </div>
          {!canEdit && <p className="text-12 text-ink-soft">Editors and admins of the project decide it.</p>}
        </>
      )}
    </Card>
  );
}

const KINDS: Record<NodeDiffKind, { word: string; style: string }> = {
  added: { word: "Added", style: "bg-thread-soft text-thread-text" },
  changed: { word: "Changed", style: "bg-waiting-soft text-waiting" },
  removed: { word: "Removed", style: "bg-failed-soft text-failed" },
  moved: { word: "Moved", style: "bg-sunken text-ink-soft" },
};
const ORDER = Object.keys(KINDS) as NodeDiffKind[];

/** More than this begins folded. */
const SHOWN_AT_ONCE = 6;

/** Whether nobody can look at a proposal any more. */
function useIsGone({ id }: ProposalPart): boolean {
  const { error } = useQuery(useTRPC().assistant.getProposal.queryOptions({ proposal_id: id }, { refetchOnWindowFocus: false }));
  return error !== null && isMissing(error);
}

/** What would be another in the draft that it was made for, node by node. */
function Changes({ proposalId }: { proposalId: string }) {
  const trpc = useTRPC();
  const [isAll, setIsAll] = useState(false);
  const { data, isPending } = useQuery(
    trpc.assistant.getProposal.queryOptions({ proposal_id: proposalId }, { refetchOnWindowFocus: false }),
  );
  const diff = useMemo(() => data && diffGraphs(data.base, data.graph), [data]);
  if (isPending) return <Skeleton className="h-16" />;
  if (!data || !diff) return null;
  // Where the rest has to go to make room says nothing in words.
  const nodes = diff.nodes.filter(({ kind }) => kind !== "moved").sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  const shown = isAll ? nodes : nodes.slice(0, SHOWN_AT_ONCE);
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <p className="text-12 text-ink-soft">{formatDiff(diff)}</p>
      <ul aria-label="Changes" className="flex flex-col gap-1">
        {shown.map((change) => (
          <li key={change.id}>
            <NodeChange change={change} />
          </li>
        ))}
      </ul>
      {shown.length < nodes.length && (
        <Button size="sm" variant="ghost" className="self-start" onClick={() => setIsAll(true)}>
          Show {nodes.length - shown.length} more
        </Button>
      )}
      {diff.edges.length > 0 && (
        <details className="text-12">
          <summary className="cursor-pointer rounded-sm py-1 text-ink-soft hover:text-ink">
            {plural(diff.edges.length, "connection")}
          </summary>
          <ul className="flex flex-col gap-1 pt-1 text-ink-soft">
            {diff.edges.map((change) => (
              <li key={`${change.kind} ${change.id}`} className="flex items-baseline gap-2">
                <Kind kind={change.kind} />
                <span className="min-w-0 break-words">{formatEdge(change, data.graph, data.base)}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

const Kind = ({ kind }: { kind: NodeDiffKind }) => (
  <span className={cn("shrink-0 rounded-sm px-1.5 py-0.5 font-semibold text-12 leading-none", KINDS[kind].style)}>{KINDS[kind].word}</span>
);

function NodeChange({ change }: { change: NodeDiff }) {
  const { kind, node } = change;
  const { agentName } = useAgentNames();
  const workflow = useWorkflowNames("workflow_id" in node.data);
  const words = (field: string, value: unknown) => formatFieldValue(node.type, field, value, { agent: agentName, workflow });
  const values: { field: string; before?: string; after: string }[] = saidFields(change).map(({ field, before, after }) => ({
    field,
    ...(kind === "changed" && { before: words(field, before) }),
    after: words(field, after),
  }));
  const line = (
    <>
      <Kind kind={kind} />
      <span className={cn("min-w-0 break-words font-semibold text-12 text-ink", kind === "removed" && "line-through")}>
        {accessibleName(node.type, node.data)}
      </span>
    </>
  );
  if (values.length === 0) return <div className="flex items-center gap-2 px-2 py-1">{line}</div>;
  return (
    <details className="group rounded-md border bg-surface open:bg-raised">
      <summary className="flex cursor-pointer list-none items-center gap-2 rounded-md px-2 py-1.5 hover:bg-hover pointer-coarse:min-h-11 [&::-webkit-details-marker]:hidden">
        {line}
        <span className="ml-auto max-w-[45%] shrink-0 truncate text-12 text-ink-faint">
          {values.map(({ field }) => fieldTitle(node.type, field)).join(", ")}
        </span>
      </summary>
      <dl className="flex flex-col gap-2 border-t px-2.5 py-2 text-12">
        {values.map(({ field, before, after }) => (
          <div key={field} className="flex min-w-0 flex-col">
            <dt className="text-12 text-ink-faint">{fieldTitle(node.type, field)}</dt>
            <dd className="max-h-40 overflow-y-auto whitespace-pre-wrap break-words text-ink">
              <FieldValue before={before} after={after} />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function FieldValue({ before, after }: { before: string | undefined; after: string }) {
  if (before === undefined) return after;
  const parts = splitAtChange(before, after);
  return (
    <>
      {parts.head}
      <del className="rounded-xs bg-failed-soft text-failed decoration-failed/60">{parts.before}</del>{" "}
      <ins className="rounded-xs bg-thread-soft text-thread-text no-underline">{parts.after}</ins>
      {parts.tail}
    </>
  );
}
