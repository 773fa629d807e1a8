"use client";

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { type ProposalDesk, useAssistant, useProposalDesk } from "#components/shell/assistant.tsx";
import { UserError, useApi } from "#components/trpc.tsx";
import { createStrictContext } from "#components/ui/strict-context.ts";
import { toast } from "#components/ui/toaster.tsx";
import { useCanvasUiStore, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { useHistoryStore } from "#components/workflow-editor/history/history-context.tsx";
import { useSession } from "#components/workflow-editor/session/session-context.tsx";
import type { Proposal } from "#server/features/assistant/schema.ts";

export interface ProposalState {
  /** The proposal for this workflow that waits for a decision. */
  proposal: Proposal | null;
  /** Ids of the nodes whose changes are not to be taken. */
  leftOut: ReadonlySet<string>;
  toggle(nodeId: string): void;
  /** Puts it on the canvas as a comparison. */
  show(): void;
  /** Does nothing when there is none. @throws what the server said */
  accept(): Promise<void>;
  reject(): Promise<void>;
}

const [ProposalContext, useProposal] = createStrictContext<ProposalState>("ProposalProvider");

export { useProposal };

const NONE: ReadonlySet<string> = new Set();

/** True while somebody writes on this page: the canvas is not to be taken away under the hands. */
const isWriting = (): boolean => document.activeElement?.matches("#main :is(input, textarea, [contenteditable])") === true;

/** The proposal that a link leads to. */
const idInAddress = () => (typeof location === "undefined" ? null : new URLSearchParams(location.search).get("proposal"));

/** What a step of undo is called by a proposal: as much of its summary as a tooltip holds. */
const stepName = (summary: string) => `accept “${summary.length > MAX_NAME ? `${summary.slice(0, MAX_NAME - 1)}…` : summary}”`;
const MAX_NAME = 60;

/** What the assistant proposes for the open workflow: shown when it comes, and decided here, where what is not saved yet is known. */
export function ProposalProvider({ isReadOnly, children }: { isReadOnly: boolean; children: ReactNode }) {
  const { trpc, client, cache } = useApi();
  const session = useSession();
  const editor = useEditorStore();
  const history = useHistoryStore();
  const { workflowId: workflow_id } = session;
  const { data } = useQuery(trpc.assistant.proposals.queryOptions({ workflow_id }, { enabled: !isReadOnly }));
  /** One that was asked for by its id, as by a link; else the newest. */
  const [wanted, setWanted] = useState(idInAddress);
  const proposal = data?.items.find(({ id }) => id === wanted) ?? data?.items[0] ?? null;
  const newest = data?.items[0]?.id;
  const [known, setKnown] = useState(newest);
  if (newest !== known) {
    setKnown(newest);
    if (known !== undefined) setWanted(null);
  }
  // It is said once; a reload shows what is newest then.
  useEffect(() => {
    const url = new URL(location.href);
    if (!url.searchParams.has("proposal")) return;
    url.searchParams.delete("proposal");
    window.history.replaceState(window.history.state, "", url);
  }, []);
  const [choice, setChoice] = useState<{ id: string; leftOut: ReadonlySet<string> } | null>(null);
  const leftOut = choice?.id === proposal?.id ? (choice?.leftOut ?? NONE) : NONE;

  const seen = useRef<string | null>(null);
  useEffect(() => {
    const { compared, compare } = history.getState();
    const isNew = proposal !== null && proposal.id !== seen.current;
    seen.current = proposal?.id ?? null;
    if (compared?.kind === "proposal") compare(proposal && { kind: "proposal", proposal });
    else if (isNew && compared === null && !isWriting()) compare({ kind: "proposal", proposal });
  }, [proposal, history]);

  // What was accepted is seen as a whole, once the canvas is there again.
  const ui = useCanvasUiStore();
  const [accepted, setAccepted] = useState(0);
  useEffect(() => {
    if (accepted > 0) ui.getState().reveal(null);
  }, [accepted, ui]);

  const decisions = useMemo(() => {
    const waiting = trpc.assistant.proposals.queryFilter({ workflow_id });
    /** It waits no longer. */
    const close = (proposal_id: string) => {
      cache.setQueriesData<{ items: Proposal[] }>(
        waiting,
        (known) => known && { items: known.items.filter(({ id }) => id !== proposal_id) },
      );
      history.getState().compare(null);
    };
    return {
      async accept(proposal_id: string, summary: string, leave_out: string[]) {
        const isTaken = await session.adopt(stepName(summary), async () => {
          const { draft } = await client.assistant.acceptProposal.mutate({ proposal_id, leave_out });
          close(proposal_id);
          return draft;
        });
        if (isTaken) {
          setAccepted((count) => count + 1);
          editor.getState().say("Accepted. The changes are in the draft.");
          toast.success("The changes are in the draft", { action: { label: "Undo", onClick: () => editor.getState().undo() } });
          return;
        }
        // Why not is told over the canvas.
        history.getState().compare(null);
        throw new UserError("The latest changes are not on the server yet, so nothing was accepted.");
      },
      async reject(proposal_id: string) {
        await client.assistant.rejectProposal.mutate({ proposal_id });
        close(proposal_id);
        editor.getState().say("Rejected. The draft is unchanged.");
      },
    };
  }, [trpc, client, cache, session, editor, history, workflow_id]);

  const value = useMemo(
    (): ProposalState => ({
      proposal,
      leftOut,
      toggle(nodeId) {
        const others = [...leftOut].filter((id) => id !== nodeId);
        if (proposal) setChoice({ id: proposal.id, leftOut: new Set(leftOut.has(nodeId) ? others : [...others, nodeId]) });
      },
      show: () => proposal && history.getState().compare({ kind: "proposal", proposal }),
      async accept() {
        if (proposal) await decisions.accept(proposal.id, proposal.summary, [...leftOut]);
      },
      async reject() {
        if (proposal) await decisions.reject(proposal.id);
      },
    }),
    [proposal, leftOut, history, decisions],
  );
  const { makeWay } = useAssistant();
  const desk = useMemo((): ProposalDesk => {
    const isThis = (id: string) => id === value.proposal?.id;
    return {
      workflow_id,
      show(id) {
        makeWay();
        setWanted(id);
        if (isThis(id)) value.show();
      },
      accept: (id) => (isThis(id) ? value.accept() : decisions.accept(id, "a proposal", [])),
      reject: (id) => decisions.reject(id),
    };
  }, [workflow_id, value, decisions, makeWay]);
  useProposalDesk(isReadOnly ? null : desk);
  return <ProposalContext value={value}>{children}</ProposalContext>;
}
