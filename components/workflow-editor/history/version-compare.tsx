"use client";

import { RotateCcw, X } from "lucide-react";
import { useState } from "react";
import { RunProvider } from "#components/runs/store/run-context.tsx";
import { createRunStore } from "#components/runs/store/run-store.ts";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Select } from "#components/ui/select.tsx";
import { Spinner } from "#components/ui/spinner.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { Canvas } from "#components/workflow-editor/canvas/canvas.tsx";
import { CanvasProvider, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { type Comparison, type useComparison, useHistory, useHistoryStore } from "#components/workflow-editor/history/history-context.tsx";
import { ComparedSides } from "#components/workflow-editor/history/version-changes.tsx";
import { ConflictChoice } from "#components/workflow-editor/session/conflict.tsx";

/** Both sides as one picture, in the place of the canvas. */
export function VersionCompare({
  comparison,
  isReadOnly,
}: {
  comparison: NonNullable<ReturnType<typeof useComparison>>;
  isReadOnly: boolean;
}) {
  const isProposal = useHistory((state) => state.compared?.kind === "proposal");
  const isOpen = useHistory((state) => state.isOpen);
  return (
    <section
      aria-label={isProposal ? "Proposed workflow" : "Comparison"}
      className={cn("flex size-full min-h-0 flex-col", isOpen && "max-md:pb-[calc(46dvh-2rem)]")}
    >
      {!isProposal && <CompareBar comparison={comparison.kind === "shown" ? comparison : null} isReadOnly={isReadOnly} />}
      <div className="relative min-h-0 flex-1">
        {comparison.kind === "shown" && <ComparedCanvas comparison={comparison} />}
        {comparison.kind === "loading" && (
          <p role="status" className="flex h-full items-center justify-center gap-2 text-14 text-ink-soft">
            <Spinner /> Reading the version…
          </p>
        )}
        {comparison.kind === "failed" && (
          <div className="p-3">
            <LoadFailure query={{ error: comparison.error, refetch: comparison.retry }} />
          </div>
        )}
      </div>
    </section>
  );
}

/** Of a larger workflow one sees first what differs. */
const MAX_FITTED = 30;

function ComparedCanvas({ comparison }: { comparison: Comparison }) {
  // A run of the draft is no part of the picture.
  const [noRun] = useState(() => createRunStore());
  const history = useHistoryStore();
  const { nodes } = comparison.after.graph;
  const differing = Object.keys(comparison.marks.nodes);
  return (
    <RunProvider value={noRun}>
      <CanvasProvider key={comparison.id} editor={comparison.editor} ui={comparison.ui}>
        <Canvas
          {...(nodes.length > MAX_FITTED && differing.length > 0 && { firstView: differing })}
          onNodeOpen={(id) => comparison.marks.nodes[id] && history.setState({ isOpen: true })}
        />
      </CanvasProvider>
    </RunProvider>
  );
}

function CompareBar({ comparison, isReadOnly }: { comparison: Comparison | null; isReadOnly: boolean }) {
  const compared = useHistory((state) => state.compared);
  const history = useHistoryStore();
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1.5 border-b bg-surface px-3 py-1.5">
      <p role="status" className="min-w-0 flex-1 basis-60 text-14 max-sm:basis-full">
        {comparison && (
          <>
            <span className="font-semibold">
              <ComparedSides comparison={comparison} />
            </span>
            <span className="text-ink-soft"> · {comparison.summary}</span>
          </>
        )}
      </p>
      {compared?.kind === "version" && compared.version > 1 && (
        <Select
          aria-label="Compare with"
          size="sm"
          className="w-44"
          value={compared.against}
          onValueChange={(against) => history.getState().compare({ ...compared, against })}
          options={[
            { value: "draft", label: "With the draft" },
            { value: "previous", label: "With the one before" },
          ]}
        />
      )}
      {compared?.kind === "version" && !isReadOnly && <RestoreButton version={compared.version} comparison={comparison} />}
      {compared?.kind === "conflict" && (
        <ConflictChoice
          over={compared.over}
          conflict={comparison?.conflict ?? null}
          size="sm"
          onDone={() => history.getState().compare(null)}
        />
      )}
      <Button size="sm" icon={<X />} onClick={() => history.getState().compare(null)}>
        {compared?.kind === "conflict" ? "Back" : "Close"}
      </Button>
    </div>
  );
}

/** Puts the version's graph into the draft, as one step of undo. */
function RestoreButton({ version, comparison }: { version: number; comparison: Comparison | null }) {
  const editor = useEditorStore();
  const history = useHistoryStore();
  const title = `Version ${version}`;
  const side = comparison && [comparison.before, comparison.after].find((candidate) => candidate.title === title);
  const isSame = comparison?.after.title === "Draft" && comparison.diff.nodes.length + comparison.diff.edges.length === 0;
  const restore = () => {
    if (!side) return;
    editor.getState().replace({ nodes: side.graph.nodes, edges: side.graph.edges }, `restore version ${version}`);
    history.getState().close();
    editor.getState().say(`Version ${version} restored into the draft`);
    toast.success(`Version ${version} is in the draft`, {
      description: "Publish makes it the current version.",
      action: { label: "Undo", onClick: () => editor.getState().undo() },
    });
  };
  return (
    <Button
      size="sm"
      variant="primary"
      icon={<RotateCcw />}
      disabled={!side || isSame}
      title={isSame ? "The draft is the same already." : "Puts this version into the draft. Undo takes it back."}
      onClick={restore}
    >
      Restore
    </Button>
  );
}
