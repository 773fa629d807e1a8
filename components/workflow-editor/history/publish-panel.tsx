"use client";

import { CircleCheck, History } from "lucide-react";
import { useMemo } from "react";
import { plural } from "#components/format.ts";
import { isComposing } from "#components/is-composing.ts";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { Textarea } from "#components/ui/input.tsx";
import { MOD } from "#components/ui/kbd.tsx";
import { accessibleName } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { useCanvasUi, useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { useHistoryStore } from "#components/workflow-editor/history/history-context.tsx";
import { usePublish } from "#components/workflow-editor/history/use-publish.ts";
import { ChangeTag } from "#components/workflow-editor/history/version-changes.tsx";
import { formatDiff } from "#components/workflow-editor/history/version-format.ts";
import { ProblemRows } from "#components/workflow-editor/problems/problem-rows.tsx";
import { useSession, useSessionState } from "#components/workflow-editor/session/session-context.tsx";
import { diffGraphs } from "#server/workflow/diff.ts";

/** Changes that are named; the comparison has them all. */
const MAX_NAMED = 6;
const MAX_NOTE = 1000;
const WORDS = { added: "New", changed: "Changed", removed: "Removed", moved: "Moved" } as const;

/** What publishing would do: what stands in its way, what is new since the published version, and a note that is kept with it. */
export function PublishPanel({ isReadOnly, onClose }: { isReadOnly: boolean; onClose: () => void }) {
  const session = useSession();
  const history = useHistoryStore();
  const publish = usePublish();
  const version = useSessionState((state) => state.version);
  const isAhead = useSessionState((state) => state.isAhead);
  const note = useSessionState((state) => state.note);
  const isPending = useSessionState((state) => state.publish.kind === "publishing");
  const problems = useCanvasUi((state) => state.problems);
  const isReady = isAhead && !isReadOnly;
  const openHistory = () => {
    onClose();
    history.getState().open();
  };
  return (
    <div className="flex flex-col divide-y">
      {isReady && problems.length > 0 && (
        <section aria-label="Problems" className="flex flex-col gap-1 p-3">
          <h3 className="font-semibold text-14 text-failed">{plural(problems.length, "problem")} to fix before it can be published</h3>
          <div className="-mx-2">
            <ProblemRows rows={problems} onGo={onClose} />
          </div>
        </section>
      )}
      <section aria-label="What is new" className="flex flex-col gap-2 p-3">
        {isAhead ? (
          <WhatIsNew onClose={onClose} />
        ) : (
          <p className="flex items-center gap-1.5 text-14">
            <CircleCheck aria-hidden className="size-4 shrink-0 text-complete" />
            Version {version} is published, and the canvas is the same.
          </p>
        )}
      </section>
      {isReady && (
        <div className="p-3">
          <Field label="Note" hint={null}>
            <Textarea
              rows={2}
              value={note}
              maxLength={MAX_NOTE}
              placeholder="What is new, for the history"
              onChange={(event) => session.describe(event.target.value)}
              onKeyDown={(event) => {
                if (event.key !== "Enter" || isComposing(event) || !(event.metaKey || event.ctrlKey)) return;
                event.preventDefault();
                publish();
              }}
            />
          </Field>
        </div>
      )}
      <div className="flex items-center justify-between gap-2 p-2">
        <Button size="sm" variant="ghost" icon={<History />} onClick={openHistory}>
          History
        </Button>
        {isReady && (
          <Button size="sm" variant="primary" isPending={isPending} disabled={problems.length > 0} title={`${MOD} S`} onClick={publish}>
            Publish version {version + 1}
          </Button>
        )}
      </div>
    </div>
  );
}

function WhatIsNew({ onClose }: { onClose: () => void }) {
  const session = useSession();
  const editor = useEditorStore();
  const history = useHistoryStore();
  const version = useSessionState((state) => state.version);
  const revision = useEditor((state) => state.revision);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the revision stands for the graph that is read from the store, the version for the published one
  const diff = useMemo(
    () => diffGraphs(session.baseOf("publish") ?? { nodes: [], edges: [] }, editor.getState().graph()),
    [session, editor, revision, version],
  );
  const named = diff.nodes.filter(({ kind }) => kind !== "moved").slice(0, MAX_NAMED);
  const seeAll = () => {
    onClose();
    history.getState().compare({ kind: "version", version, against: "draft" });
  };
  return (
    <>
      <h3 className="font-semibold text-14">
        Since version {version}: <span className="font-normal text-ink-soft">{formatDiff(diff)}</span>
      </h3>
      {named.length > 0 && (
        <ul aria-label="Changes" className="flex flex-col gap-1">
          {named.map(({ id, kind, node }) => (
            <li key={id} className="flex items-baseline gap-1.5 text-14">
              <ChangeTag kind={kind}>{WORDS[kind]}</ChangeTag>
              <span className="min-w-0 truncate">{accessibleName(node.type, node.data)}</span>
            </li>
          ))}
        </ul>
      )}
      <Button size="sm" className="self-start" onClick={seeAll}>
        See every change
      </Button>
    </>
  );
}
