"use client";

import type { NodeProps } from "@xyflow/react";
import { PowerOff } from "lucide-react";
import { memo } from "react";
import { plural } from "#components/format.ts";
import { useRun } from "#components/runs/store/run-context.tsx";
import { type CardStatus, cardStatus } from "#components/runs/store/run-snapshot.ts";
import { cn } from "#components/ui/cn.ts";
import { NodeDiffTag, useNodeDiff } from "#components/workflow-editor/canvas/cards/graph-diff-mark.tsx";
import { LightCard, useCardFace } from "#components/workflow-editor/canvas/cards/light-card.tsx";
import { ExpandLoop, FramePorts, LoopFrame } from "#components/workflow-editor/canvas/cards/loop-frame.tsx";
import { minCardHeight, NodePorts, UnseenPorts } from "#components/workflow-editor/canvas/cards/node-ports.tsx";
import {
  NodeMarkDescription,
  NodeMarks,
  NodeRunFoot,
  NodeStateMark,
  stateText,
} from "#components/workflow-editor/canvas/cards/node-state.tsx";
import { type FlowNode, isNodeType, labelOf, stateTextId, typeTitle } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { useCanvasUi, useCanvasUiStore, useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { NodeIcon, roleStyle } from "#components/workflow-editor/nodes/node-icon.tsx";
import { configOf, nodeUiOf } from "#components/workflow-editor/nodes/node-registry.ts";
import { NodeSentence } from "#components/workflow-editor/nodes/node-sentence.tsx";
import { useAgentNames } from "#components/workflow-editor/nodes/project-lookups.tsx";
import { SeverityIcon, severityColor } from "#components/workflow-editor/problems/severity.tsx";
import { definitionOf } from "#server/workflow/graph.ts";
import type { Problem } from "#server/workflow/schema.ts";

const RINGS: Partial<Record<CardStatus, string>> = {
  running: "border-running shadow-[0_0_0_1px_var(--running)]",
  failed: "border-failed shadow-[0_0_0_1px_var(--failed)]",
  waiting: "border-waiting shadow-[0_0_0_1px_var(--waiting)]",
  complete: "border-complete/55",
  // Words stay as dark as they are: what was not reached is read too.
  skipped: "border-dashed bg-sunken shadow-none grayscale",
  queued: "shadow-none",
};

const NONE: readonly Problem[] = [];

interface CardProps {
  id: string;
  type: string;
  selected: boolean;
  isConnectable: boolean;
  /** Of a loop's frame, see LoopLook. */
  entry: number | undefined;
  hides: number | undefined;
}

/** A node on the canvas. It renders when its own data, state or selection change, and for nothing else. */
export const NodeCard = memo(function NodeCard({ id, type, selected, isConnectable, data: { entry, hides } }: NodeProps<FlowNode>) {
  const face = useCardFace(id);
  const props = { id, type, selected, isConnectable, entry, hides };
  const isWhole = face === "full" || !isNodeType(type) || nodeUiOf(type)?.Card !== undefined;
  return isWhole ? <FullCard {...props} /> : <PartCard {...props} face={face} />;
});

/** What every card tells of its node: the classes of its state, and the words for those who do not see them. */
function useCardState({ id, type, selected }: CardProps) {
  const data = useEditor((state) => state.data[id]);
  const run = useRun((state) => state.snapshot?.nodes[id]);
  const status = useRun((state) => (state.snapshot?.nodes[id] ? cardStatus(state.snapshot, id) : null));
  // What a node that was just added lacks yet is told when it is left.
  const isFresh = useEditor((state) => state.fresh === id);
  const problems = useCanvasUi((state) => (isFresh ? 0 : (state.problemCounts[id] ?? 0)));
  const warnings = useCanvasUi((state) => (isFresh ? 0 : (state.warningCounts[id] ?? 0)));
  const refusal = useCanvasUi((state) => state.refusals?.[id]);
  const diff = useNodeDiff(id);
  const isStale = useRun((state) => state.stale[id] !== undefined);
  const isOff = data?.disabled === true;
  const classes = cn(
    status && RINGS[status],
    isStale && "border-waiting",
    diff?.ring,
    selected && "outline outline-[1.5px] outline-ink-soft outline-offset-2",
    isOff && "border-dashed bg-sunken",
    refusal !== undefined && "opacity-35",
  );
  const tell = (
    <>
      {diff && <NodeDiffTag {...diff} />}
      <span id={stateTextId(id)} hidden>
        <NodeMarkDescription id={id} />
        {[diff?.word, isOff && "Disabled", stateText(status, run, problems, warnings)].filter(Boolean).join(". ")}
      </span>
    </>
  );
  return { data, label: labelOf(data, type), run, status, problems, warnings, refusal, diff, isOff, classes, tell };
}

/** A card that is out of sight or far away. */
const PartCard = memo(function PartCard({ face, ...props }: CardProps & { face: "plain" | "small" | "far" }) {
  const { id, type, isConnectable, entry } = props;
  const { data, label, status, problems, warnings, isOff, classes, tell } = useCardState(props);
  const severity = problems > 0 ? "error" : warnings > 0 ? "warning" : null;
  return (
    <LightCard {...{ id, type, face, label, isOff, severity }} isFrame={entry !== undefined} className={classes} status={status ?? "none"}>
      {entry !== undefined ? (
        <FramePorts {...{ id, entry, isConnectable }} />
      ) : face === "small" ? (
        <NodePorts {...{ type, data, isConnectable }} isNamed={false} />
      ) : (
        <UnseenPorts {...{ id, type, data, isConnectable }} />
      )}
      {tell}
    </LightCard>
  );
});

const FullCard = memo(function FullCard(props: CardProps) {
  const { id, type, selected, isConnectable, entry, hides } = props;
  const { data, label, run, status, problems, warnings, refusal, diff, isOff, classes, tell } = useCardState(props);
  const ui = useCanvasUiStore();
  const lookups = useAgentNames();
  const all = useCanvasUi((state) => (problems > 0 ? state.problems : NONE));
  const told = all.flatMap(({ node_id, message }) => (node_id === id ? [message] : []));

  const definition = definitionOf(type);
  const nodeUi = nodeUiOf(type);
  if (!data || !definition || !nodeUi || !isNodeType(type))
    return (
      <div className="w-62.5 rounded-xl border border-failed bg-raised p-4 text-12 text-failed">
        {label}: this version does not know the node type “{type}”.
      </div>
    );
  const config = configOf(type, data);
  if (nodeUi.Card)
    return (
      <div
        className={cn("rounded-lg", diff && ["border", diff.ring], selected && "outline outline-[1.5px] outline-ink-soft outline-offset-2")}
      >
        <nodeUi.Card id={id} config={config as never} label={label} />
        {tell}
      </div>
    );
  const head = (
    <>
      <NodeIcon type={type} />
      <span
        className={cn(
          "min-w-0 flex-1 truncate font-semibold text-14",
          status === "failed" ? "text-failed" : "text-ink",
          isOff && "text-ink-faint line-through",
        )}
      >
        {label}
      </span>
      {isOff && <PowerOff aria-hidden className="size-3.5 shrink-0 text-ink-faint" />}
      <NodeMarks id={id} />
      {problems > 0 && <ProblemMark id={id} count={problems} severity="error" />}
      {warnings > 0 && <ProblemMark id={id} count={warnings} severity="warning" />}
      {status && <NodeStateMark status={status} />}
      {label !== typeTitle(type) && (
        <span className={cn("canvas-fine min-w-0 shrink-[999] truncate rounded-sm px-1 font-semibold text-12", roleStyle(type))}>
          {typeTitle(type)}
        </span>
      )}
    </>
  );
  const sentence = <NodeSentence parts={nodeUi.sentence(config as never, lookups)} problems={told} />;
  const foot = run && status && <NodeRunFoot {...{ type, data, status, run }} />;
  if (entry !== undefined)
    return (
      <LoopFrame {...{ id, entry, isConnectable, head, sentence, foot, className: classes, status: status ?? "none" }}>{tell}</LoopFrame>
    );
  const hover =
    refusal === undefined ? {} : { onPointerEnter: () => ui.setState({ refusal }), onPointerLeave: () => ui.setState({ refusal: null }) };
  const minHeight = minCardHeight({ type, data });
  return (
    <div
      {...hover}
      data-status={status ?? "none"}
      className={cn(
        "w-62.5 rounded-xl border border-line-strong bg-raised shadow-sm transition-[border-color,box-shadow,opacity]",
        classes,
      )}
      style={{ minHeight }}
    >
      <div className="flex h-10 items-center gap-2 px-3">
        {head}
        {hides !== undefined && <ExpandLoop id={id} />}
      </div>
      <div className={cn("flex flex-col gap-2 pb-3 pl-3", minHeight === undefined ? "pr-3" : "pr-18")}>
        {sentence}
        {hides !== undefined && (
          <p className="canvas-fine text-12 text-ink-faint">{hides === 1 ? "1 node inside" : `${hides} nodes inside`}</p>
        )}
        {foot}
      </div>
      <NodePorts {...{ type, data, isConnectable }} isNamed />
      {tell}
    </div>
  );
});

function ProblemMark({ id, count, severity }: { id: string; count: number; severity: Problem["severity"] }) {
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  const isError = severity === "error";
  const field = () => {
    const { problems, warnings } = ui.getState();
    return (isError ? problems : warnings).find((problem) => problem.node_id === id)?.field ?? null;
  };
  const look = `inline-flex h-6 shrink-0 items-center gap-0.5 rounded-sm px-1 font-semibold text-12 ${severityColor(severity)}`;
  const sign = (
    <>
      <SeverityIcon severity={severity} className="size-3.5" />
      {count > 1 && count}
    </>
  );
  return (
    <button
      type="button"
      className={cn(look, "nodrag", isError ? "hover:bg-failed-soft" : "hover:bg-waiting-soft")}
      aria-label={`${plural(count, isError ? "problem" : "warning")}, show ${count === 1 ? "it" : "them"}`}
      onClick={(event) => {
        event.stopPropagation();
        editor.getState().selectOnly(id);
        ui.getState().goTo(id, field());
      }}
    >
      {sign}
    </button>
  );
}
