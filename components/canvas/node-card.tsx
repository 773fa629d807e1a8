"use client";

import { Handle, type NodeProps, Position } from "@xyflow/react";
import { PowerOff, TriangleAlert } from "lucide-react";
import { memo } from "react";
import { useCanvasUi, useCanvasUiStore, useEditor, useEditorStore } from "#components/canvas/canvas-context.tsx";
import { FAR_CARD, FarFace, useIsFar } from "#components/canvas/far-face.tsx";
import { type FlowNode, isNodeType, labelOf, stateTextId, typeTitle } from "#components/canvas/flow-mapping.ts";
import { NodeDiffTag, useNodeDiff } from "#components/canvas/graph-diff-mark.tsx";
import { LoopFrame } from "#components/canvas/loop-frame.tsx";
import { PORT_HEIGHT } from "#components/canvas/loop-frames.ts";
import { NodeMarks, NodeMarkWords } from "#components/canvas/node-marks.tsx";
import { NodeRunFoot, NodeStateMark, stateText } from "#components/canvas/node-state.tsx";
import { useAgentNames } from "#components/nodes/agent-names.tsx";
import { NodeIcon, roleStyle } from "#components/nodes/node-icon.tsx";
import { configOf, nodeUiOf } from "#components/nodes/node-registry.ts";
import { NodeSentence } from "#components/nodes/node-sentence.tsx";
import { useRun } from "#components/runs/run-context.tsx";
import { type CardStatus, cardStatus } from "#components/runs/run-picture.ts";
import { cn } from "#components/ui/cn.ts";
import { definitionOf } from "#server/engine/graph.ts";

const RINGS: Partial<Record<CardStatus, string>> = {
  running: "border-running shadow-[0_0_0_1px_var(--running)]",
  failed: "border-failed shadow-[0_0_0_1px_var(--failed)]",
  waiting: "border-waiting shadow-[0_0_0_1px_var(--waiting)]",
  complete: "border-complete/55",
  // Words stay as dark as they are: what was not reached is read too.
  skipped: "border-dashed bg-sunken shadow-none grayscale",
  queued: "shadow-none",
};

/** Distance of one way out of a node from the next, and of the first from the card's top (pixels). */
const HANDLE_PITCH = 28;
const FIRST_HANDLE = 58;

/** A node on the canvas. It renders when its own data, state or selection change, and for nothing else. */
export const NodeCard = memo(function NodeCard({ id, type, selected, isConnectable, data: { entry, hides } }: NodeProps<FlowNode>) {
  const data = useEditor((state) => state.data[id]);
  const run = useRun((state) => state.picture?.nodes[id]);
  const status = useRun((state) => (state.picture?.nodes[id] ? cardStatus(state.picture, id) : null));
  const problems = useCanvasUi((state) => state.problemCounts[id] ?? 0);
  const refusal = useCanvasUi((state) => state.refusals?.[id]);
  const diff = useNodeDiff(id);
  const ui = useCanvasUiStore();
  const lookups = useAgentNames();
  const isFar = useIsFar();

  const definition = definitionOf(type);
  const nodeUi = nodeUiOf(type);
  const label = labelOf(data, type);
  if (!data || !definition || !nodeUi || !isNodeType(type))
    return (
      <div className="w-62.5 rounded-xl border border-failed bg-raised p-4 text-12 text-failed">
        {label}: this version does not know the node type “{type}”.
      </div>
    );
  const config = configOf(type, data);
  const isOff = data.disabled === true;
  const tell = (
    <>
      {diff && <NodeDiffTag {...diff} />}
      <span id={stateTextId(id)} className="sr-only">
        <NodeMarkWords id={id} />
        {[diff?.word, isOff && "Disabled", stateText(status, run, problems)].filter(Boolean).join(". ")}
      </span>
    </>
  );
  if (nodeUi.Card)
    return (
      <div
        className={cn("rounded-lg", diff && ["border", diff.ring], selected && "outline outline-[1.5px] outline-ink-soft outline-offset-2")}
      >
        <nodeUi.Card id={id} config={config as never} label={label} />
        {tell}
      </div>
    );
  const handles = definition.handles ?? [null];
  const head = (
    <>
      <NodeIcon type={type} />
      <span
        className={cn(
          "min-w-0 flex-1 truncate font-semibold text-13",
          status === "failed" ? "text-failed" : "text-ink",
          isOff && "text-ink-faint line-through",
        )}
      >
        {label}
      </span>
      {isOff && <PowerOff aria-hidden className="size-3.5 shrink-0 text-ink-faint" />}
      <NodeMarks id={id} />
      {problems > 0 && <ProblemMark id={id} count={problems} />}
      {status && <NodeStateMark status={status} />}
      {label !== typeTitle(type) && (
        <span className={cn("shrink-0 rounded-sm px-1 font-medium text-10", roleStyle(type))}>{typeTitle(type)}</span>
      )}
    </>
  );
  const state = cn(
    status && RINGS[status],
    diff?.ring,
    selected && "outline outline-[1.5px] outline-ink-soft outline-offset-2",
    isOff && "border-dashed bg-sunken",
    refusal !== undefined && "opacity-35",
  );
  if (entry !== undefined)
    return (
      <LoopFrame
        {...{ id, entry, isConnectable, head, className: state, status: status ?? "none" }}
        sentence={<NodeSentence parts={nodeUi.sentence(config as never, lookups)} />}
        foot={run && status && <NodeRunFoot status={status} run={run} />}
      >
        {tell}
      </LoopFrame>
    );
  const hover =
    refusal === undefined ? {} : { onPointerEnter: () => ui.setState({ refusal }), onPointerLeave: () => ui.setState({ refusal: null }) };
  return (
    <div
      {...hover}
      data-status={status ?? "none"}
      className={cn(
        "w-62.5 rounded-xl border border-line-strong bg-raised shadow-sm transition-[border-color,box-shadow,opacity]",
        state,
        isFar && FAR_CARD,
      )}
      style={handles.length > 1 ? { minHeight: FIRST_HANDLE + (handles.length - 1) * HANDLE_PITCH + HANDLE_PITCH / 2 } : undefined}
    >
      {definition.hasInput && <Handle type="target" position={Position.Left} isConnectable={isConnectable} style={{ top: PORT_HEIGHT }} />}
      {isFar ? (
        <FarFace {...{ id, type, label, isOff }} />
      ) : (
        <>
          <div className="flex h-10 items-center gap-2 px-3">{head}</div>
          <div className={cn("flex flex-col gap-2 pb-3 pl-3", handles.length > 1 ? "pr-18" : "pr-3")}>
            <NodeSentence parts={nodeUi.sentence(config as never, lookups)} />
            {hides !== undefined && <p className="text-11 text-ink-faint">{hides === 1 ? "1 node inside" : `${hides} nodes inside`}</p>}
            {run && status && <NodeRunFoot status={status} run={run} />}
          </div>
        </>
      )}
      {handles.map((handle, index) => (
        <Handle
          key={handle ?? ""}
          type="source"
          {...(handle !== null && { id: handle })}
          position={Position.Right}
          isConnectable={isConnectable}
          style={{ top: handles.length > 1 ? FIRST_HANDLE + index * HANDLE_PITCH : PORT_HEIGHT }}
        >
          {handle !== null && !isFar && (
            <span className="pointer-events-none absolute top-1/2 right-4 -translate-y-1/2 font-medium text-10 text-ink-faint">
              {handle}
            </span>
          )}
        </Handle>
      ))}
      {tell}
    </div>
  );
});

function ProblemMark({ id, count }: { id: string; count: number }) {
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  const field = () => ui.getState().problems.find((problem) => problem.node_id === id)?.field ?? null;
  return (
    <button
      type="button"
      className="nodrag inline-flex h-6 shrink-0 items-center gap-0.5 rounded-sm px-1 font-medium text-11 text-waiting hover:bg-waiting-soft"
      aria-label={count === 1 ? "1 problem, show it" : `${count} problems, show them`}
      onClick={(event) => {
        event.stopPropagation();
        editor.getState().selectOnly(id);
        ui.getState().goTo(id, field());
      }}
    >
      <TriangleAlert aria-hidden className="size-3.5" />
      {count > 1 && count}
    </button>
  );
}
