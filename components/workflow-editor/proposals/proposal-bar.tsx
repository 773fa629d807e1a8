"use client";

import { ChevronLeft, ChevronRight, EyeOff, List, Sparkles } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import { plural } from "#components/format.ts";
import { isComposing } from "#components/is-composing.ts";
import { AssistantContext, useAssistant } from "#components/shell/assistant.tsx";
import { errorBodyOf } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { MOD } from "#components/ui/kbd.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { Tooltip } from "#components/ui/tooltip.tsx";
import { useDebounced } from "#components/ui/use-debounced.ts";
import { comparisonId } from "#components/workflow-editor/canvas/document/comparison.ts";
import { labelOf } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { type Comparison, useComparison, useHistory, useHistoryStore } from "#components/workflow-editor/history/history-context.tsx";
import { formatDiff } from "#components/workflow-editor/history/version-format.ts";
import { useLeavingOut } from "#components/workflow-editor/proposals/leaving-out.tsx";
import { useProposal } from "#components/workflow-editor/proposals/proposal-context.tsx";
import { useSession, useSessionState } from "#components/workflow-editor/session/session-context.tsx";
import type { Proposal } from "#server/features/assistant/schema.ts";
import { withoutNodes } from "#server/workflow/choose-changes.ts";
import { diffGraphs } from "#server/workflow/diff.ts";
import { mergeGraphs } from "#server/workflow/merge.ts";

/** Putting two large graphs together takes a tenth of a second: not at every key. */
const PAUSE_MS = 300;

/** What accepting would do to the draft as it is now, without what is left out. */
function useOutcome({ base, graph: proposed }: Proposal, leftOut: ReadonlySet<string>) {
  const editor = useEditorStore();
  const revision = useDebounced(
    useEditor((state) => state.revision),
    PAUSE_MS,
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: the revision stands for the draft that is read from the store
  return useMemo(() => {
    const draft = editor.getState().graph();
    const { graph, both, isClean } = mergeGraphs(base, withoutNodes(base, proposed, leftOut), draft);
    const names = both.nodes.map(({ node }) => labelOf(node.data, node.type));
    return { diff: diffGraphs(draft, graph), isClean, names };
  }, [editor, revision, base, proposed, leftOut]);
}

/** Over the canvas while a proposal is shown on it: what it is, a way through it, and the decision. */
export function ProposalBar() {
  const { proposal } = useProposal();
  const isShown = useHistory((state) => state.compared?.kind === "proposal");
  const comparison = useComparison();
  if (!proposal || !isShown || comparison?.kind !== "shown") return null;
  return <ShownProposal key={proposal.id} proposal={proposal} comparison={comparison} />;
}

/** Decides once; what goes wrong is told. */
function useDecision() {
  const { accept, reject } = useProposal();
  const [pending, setPending] = useState<"accept" | "reject" | null>(null);
  const decide = async (kind: "accept" | "reject") => {
    if (pending !== null) return;
    setPending(kind);
    try {
      await (kind === "accept" ? accept() : reject());
    } catch (error) {
      toast.error(errorBodyOf(error).detail);
    } finally {
      setPending(null);
    }
  };
  return { pending, decide };
}

/** Above the draft while a proposal waits that is not shown. */
export function HiddenProposal() {
  const { proposal, show } = useProposal();
  const { pending, decide } = useDecision();
  if (!proposal) return null;
  return (
    <Notice
      className="mx-3 mt-3 shadow-md"
      title="The assistant proposes a change"
      actions={
        <>
          <Button size="sm" variant="primary" onClick={show}>
            Show on canvas
          </Button>
          <Button size="sm" isPending={pending === "reject"} onClick={() => void decide("reject")}>
            Reject
          </Button>
        </>
      }
    >
      {proposal.summary}
    </Notice>
  );
}

function ShownProposal({ proposal, comparison }: { proposal: Proposal; comparison: Comparison }) {
  const { leftOut } = useProposal();
  const { pending, decide } = useDecision();
  const history = useHistoryStore();
  const isListed = useHistory((state) => state.isOpen);
  const outcome = useOutcome(proposal, leftOut);
  const isNothing = outcome.diff.nodes.length + outcome.diff.edges.length === 0;
  const canAccept = outcome.isClean && !isNothing;
  const errors = proposal.problems.filter(({ severity }) => severity === "error");
  const problems = errors.filter(({ is_new }) => is_new).length;
  const before = errors.length - problems;
  useLeavingOut(comparison, proposal);

  const said = `${proposal.summary} ${formatDiff(outcome.diff)}.`;
  const first = useRef(said);
  useEffect(() => {
    comparison.editor.getState().say(`The assistant proposes: ${first.current} Nothing is changed until you accept.`);
  }, [comparison]);

  const latest = useRef(() => {});
  latest.current = () => {
    if (canAccept) void decide("accept");
  };
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || isComposing(event) || !event.shiftKey || !(event.metaKey || event.ctrlKey) || event.altKey) return;
      if (event.target instanceof Element && event.target.closest("[role=dialog], [role=alertdialog]")) return;
      event.preventDefault();
      event.stopPropagation();
      latest.current();
    };
    // Before the field in which one may be writing, and before Run, which has the same keys without Shift.
    document.addEventListener("keydown", onKeyDown, true);
    return () => document.removeEventListener("keydown", onKeyDown, true);
  }, []);

  return (
    <div className={cn("@container pointer-events-none absolute inset-x-0 bottom-0 z-20", isListed && "max-md:bottom-[calc(46dvh-2rem)]")}>
      <section
        aria-label="Proposal"
        className="pointer-events-auto absolute right-3 bottom-14 flex w-[min(30rem,calc(100%-1.5rem))] flex-col gap-2 rounded-lg border border-line-strong bg-raised p-3 shadow-lg @4xl:bottom-3"
      >
        <TellSelected {...comparison} />
        <div className="flex items-start gap-2">
          <Sparkles aria-hidden className="mt-0.5 size-4 shrink-0 text-thread-text" />
          <div className="min-w-0 flex-1">
            <p className="line-clamp-2 break-words font-semibold text-14 text-ink" title={proposal.summary}>
              {proposal.summary}
            </p>
            <p className="text-12 text-ink-soft" role="status">
              {isNothing ? "Nothing of it is left" : formatDiff(outcome.diff)}
              {leftOut.size > 0 && ` · ${leftOut.size} left out`}
              {problems > 0 && <span className="text-waiting"> · {plural(problems, "new problem")} before it can run</span>}
              {before > 0 && ` · ${plural(before, "problem")} ${before === 1 ? "was" : "were"} there before`}
            </p>
          </div>
          <IconButton label="Hide the proposal" icon={<EyeOff />} size="sm" onClick={() => history.getState().compare(null)} />
        </div>
        {!outcome.isClean && <Clash names={outcome.names} />}
        <div className="flex flex-wrap items-center gap-x-1 gap-y-2">
          <Steps comparison={comparison} />
          <IconButton
            label="List of changes"
            icon={<List />}
            isPressed={isListed}
            onClick={() => history.setState({ isOpen: !isListed })}
          />
          <span className="ml-auto flex gap-2">
            <Button isPending={pending === "reject"} disabled={pending !== null} onClick={() => void decide("reject")}>
              Reject
            </Button>
            {outcome.isClean ? (
              <Tooltip content="Puts it into the draft. Undo takes it back." shortcut={[MOD, "⇧", "Enter"]}>
                <Button
                  variant="primary"
                  isPending={pending === "accept"}
                  disabled={!canAccept || pending !== null}
                  aria-keyshortcuts="Control+Shift+Enter Meta+Shift+Enter"
                  onClick={() => void decide("accept")}
                >
                  Accept
                </Button>
              </Tooltip>
            ) : (
              <AskAgain proposal={proposal} onRejected={() => decide("reject")} isPending={pending !== null} />
            )}
          </span>
        </div>
      </section>
    </div>
  );
}

/** A node that is selected in the proposal is one to ask about, as far as the workflow has it already. */
function TellSelected({ before, editor }: Comparison) {
  const selected = useStore(editor, (state) => state.nodes.find((node) => node.selected)?.id);
  const node = selected === undefined ? undefined : before.graph.nodes.find(({ id }) => comparisonId(id) === selected);
  return node ? <AssistantContext value={{ node: { id: node.id, name: labelOf(node.data, node.type) } }} /> : null;
}

function Clash({ names }: { names: readonly string[] }) {
  return (
    <Notice tone="waiting">
      {names.length > 0
        ? `${names.map((name) => `“${name}”`).join(", ")} was changed since in another way. Leave it out of the proposal, or ask again.`
        : "Connections were changed since in another way. Ask again for the workflow as it is now."}
    </Notice>
  );
}

/** Takes the proposal away and asks for another one, for the workflow as it has become. */
function AskAgain({ proposal, isPending, onRejected }: { proposal: Proposal; isPending: boolean; onRejected: () => Promise<void> }) {
  const { open } = useAssistant();
  const { workflowId } = useSession();
  const name = useSessionState((state) => state.name);
  const ask = async () => {
    await onRejected();
    open({
      context: { workflow: { id: workflowId, name } },
      prompt: `Propose this again for the workflow as it is now: ${proposal.summary}`,
      mode: "build",
    });
  };
  return (
    <Button variant="primary" disabled={isPending} onClick={() => void ask()}>
      Ask again
    </Button>
  );
}

/** Goes from one changed node to the next, from left to right. */
function Steps({ comparison: { diff, editor, ui } }: { comparison: Comparison }) {
  const nodes = useMemo(
    () => diff.nodes.toSorted(({ node: one }, { node: other }) => one.position.x - other.position.x || one.position.y - other.position.y),
    [diff],
  );
  const selected = useStore(editor, (state) => state.nodes.find((node) => node.selected)?.id);
  const at = nodes.findIndex(({ id }) => comparisonId(id) === selected);
  if (nodes.length === 0) return null;
  const go = (by: 1 | -1) => {
    const from = at === -1 && by === -1 ? 0 : at;
    const next = nodes.at((from + by + nodes.length) % nodes.length);
    if (!next) return;
    const id = comparisonId(next.id);
    editor.getState().selectOnly(id);
    ui.getState().reveal(id, true);
    editor.getState().say(`Change ${nodes.indexOf(next) + 1} of ${nodes.length}: ${labelOf(next.node.data, next.node.type)}`);
  };
  return (
    <span className="flex items-center">
      <IconButton label="Previous change" icon={<ChevronLeft />} onClick={() => go(-1)} />
      <span className="min-w-12 text-center text-12 text-ink-soft tabular">
        {at === -1 ? plural(nodes.length, "node") : `${at + 1} of ${nodes.length}`}
      </span>
      <IconButton label="Next change" icon={<ChevronRight />} onClick={() => go(1)} />
    </span>
  );
}
