"use client";

import { NodeToolbar, Position, useNodeId, useStore } from "@xyflow/react";
import { Check, ListChecks, MessageSquare, X } from "lucide-react";
import { useState } from "react";
import { useEditorRun, useRun, useRunStore } from "#components/runs/store/run-context.tsx";
import { isReview } from "#components/runs/store/run-snapshot.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { labelOf } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import type { Decision } from "#server/features/reviews/schema.ts";
import { DEFAULT_CHOICES } from "#server/workflow/nodes/review-terms.ts";

/** Pixels below a card in which the answers and the canvas's bar find room. */
const MIN_BELOW = 104;
/** The same above it, with the card's toolbar between. */
const MIN_ABOVE = 88;

/** How often, and how far apart in milliseconds, the form is looked for: the review may still be on its way. */
const TRIES = 40;
const TRY_MS = 50;

/** Puts the focus into the comment of the review that is shown, once it is there; one that is folded is opened. */
function focusComment(tries = TRIES): void {
  const fields = document.querySelectorAll<HTMLElement>("[data-review] [data-comment]");
  const field = [...fields].find((candidate) => candidate.offsetParent !== null);
  if (field instanceof HTMLButtonElement) field.click();
  else if (field) field.focus();
  else if (tries > 0) setTimeout(focusComment, TRY_MS, tries - 1);
}

/** True for a review that anybody may simply approve or reject. */
function isPlainReview({ assignees, quorum, choices, editable }: Readonly<Record<string, unknown>>): boolean {
  const isNamed = Array.isArray(assignees) && assignees.length > 0;
  const isOwn = Array.isArray(choices) && JSON.stringify(choices) !== JSON.stringify(DEFAULT_CHOICES);
  return !isNamed && !isOwn && (quorum === undefined || quorum === 1) && editable !== true;
}

/**
 * In the editor, under the card of a review that waits: the two answers, as large as ever however far one has zoomed out.
 * Several, as in a loop, are answered in the run's panel. The page of a run has its form beside the graph at all times.
 */
export function NodeDecision() {
  const id = useNodeId() ?? "";
  const { canDecide } = useStudio();
  const isEditor = useEditorRun() !== null;
  const editor = useEditorStore();
  const run = useRunStore();
  const { trpc, client, cache } = useApi();
  const type = useEditor((state) => state.nodes.find((node) => node.id === id)?.type);
  const places = useRun((state) => (isReview(type) ? state.snapshot?.waiting[id] : undefined));
  const label = useEditor((state) => labelOf(state.data[id], type));
  const isPlain = useEditor((state) => isPlainReview(state.data[id] ?? {}));
  const [isSending, setIsSending] = useState(false);
  // Near the lower edge the canvas's bar would lie over it; above, it leaves room for the toolbar of the card. What is left of
  // the canvas over a tall panel may have room for neither: the panel has the answers then.
  const side = useStore(({ nodeLookup, transform: [, y, zoom], height }) => {
    const node = nodeLookup.get(id);
    const top = (node?.internals.positionAbsolute.y ?? 0) * zoom + y;
    if (node === undefined || top + (node.measured.height ?? 0) * zoom <= height - MIN_BELOW) return Position.Bottom;
    return top >= MIN_ABOVE ? Position.Top : null;
  });
  if (!isEditor || !places || places.length === 0 || side === null) return null;
  const [place = ""] = places;

  const decide = async (decision: Decision) => {
    const { executionId } = run.getState();
    if (!executionId) return;
    setIsSending(true);
    try {
      await client.executions.approve.mutate({ execution_id: executionId, node_id: id, iteration: place, decision });
      editor.getState().say(`${label} ${decision}`);
    } catch (error) {
      toast.error(errorBodyOf(error).detail);
    } finally {
      setIsSending(false);
      void cache.invalidateQueries(trpc.reviews.pathFilter());
      void cache.invalidateQueries(trpc.notifications.pathFilter());
    }
  };
  /** The form in the panel, where one can write a comment. */
  const open = () => {
    editor.getState().selectOnly(id);
    focusComment();
  };
  return (
    <NodeToolbar isVisible position={side} offset={side === Position.Top ? 44 : 6}>
      <div
        role="toolbar"
        aria-label={`Decide ${label}`}
        className="nodrag nopan flex items-center gap-1 rounded-lg border border-waiting/50 bg-raised p-1 shadow-md"
      >
        {places.length > 1 ? (
          <Button size="sm" variant="ghost" icon={<ListChecks />} className="text-waiting hover:text-waiting" onClick={open}>
            {places.length} waiting
          </Button>
        ) : canDecide && !isPlain ? (
          <Button size="sm" variant="primary" icon={<MessageSquare />} onClick={open}>
            Read it, and decide
          </Button>
        ) : canDecide ? (
          <>
            <Button size="sm" variant="primary" icon={<Check />} disabled={isSending} onClick={() => void decide("approved")}>
              Approve
            </Button>
            <Button size="sm" icon={<X />} disabled={isSending} onClick={() => void decide("rejected")}>
              Reject
            </Button>
            <IconButton label="Read it, and comment" icon={<MessageSquare />} onClick={open} />
          </>
        ) : (
          <Button size="sm" variant="ghost" icon={<MessageSquare />} onClick={open}>
            Waits for an approver
          </Button>
        )}
      </div>
    </NodeToolbar>
  );
}
