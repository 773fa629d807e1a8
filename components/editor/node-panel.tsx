"use client";

import { ChevronRight, Copy, MousePointerClick, Plus, Spline, Trash2 } from "lucide-react";
import dynamic from "next/dynamic";
import { useEffect, useRef } from "react";
import type { z } from "zod";
import { useCanvasUi, useCanvasUiStore, useEditor, useEditorShallow, useEditorStore } from "#components/canvas/canvas-context.tsx";
import { isNodeType, labelOf, typeTitle } from "#components/canvas/flow-mapping.ts";
import { placeAfter } from "#components/canvas/graph-edits.ts";
import { EditableName } from "#components/editor/editable-name.tsx";
import { SchemaField } from "#components/editor/schema-field.tsx";
import { NodeIcon } from "#components/nodes/node-icon.tsx";
import { configOf, nodeUiOf } from "#components/nodes/node-registry.ts";
import { Button } from "#components/ui/button.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { definitionOf } from "#server/engine/graph.ts";

// Loaded with the first trigger of its kind.
const WebhookPanel = dynamic(() => import("#components/editor/webhook-panel.tsx").then((module) => module.WebhookPanel));
const HttpPanel = dynamic(() => import("#components/editor/http-panel.tsx").then((module) => module.HttpPanel));

/** What a trigger has besides its fields: the address that others call. */
function TriggerPanel({ config, isReadOnly }: { config: Record<string, unknown>; isReadOnly: boolean }) {
  if (config.kind === "webhook") return <WebhookPanel isReadOnly={isReadOnly} />;
  if (config.kind !== "http") return null;
  return <HttpPanel methods={Array.isArray(config.allowed_methods) ? config.allowed_methods : []} isReadOnly={isReadOnly} />;
}

/** The panel of what is selected: one node's fields, or what can be done with several. */
export function NodePanel() {
  const selected = useEditorShallow((state) => state.nodes.filter((node) => node.selected).map((node) => node.id));
  const only = selected.length === 1 ? selected[0] : undefined;
  if (only) return <OneNode key={only} id={only} />;
  return selected.length > 1 ? <SeveralNodes count={selected.length} /> : <Nothing />;
}

function Nothing() {
  return (
    <div className="flex h-full flex-col items-center justify-center gap-2 p-6 text-center text-13 text-ink-soft">
      <MousePointerClick aria-hidden className="size-5 text-ink-faint" />
      <p>Select a node to see and change what it does.</p>
    </div>
  );
}

function SeveralNodes({ count }: { count: number }) {
  const editor = useEditorStore();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  return (
    <div className="flex flex-col gap-3 p-3 text-13">
      <p className="font-medium">{count} nodes selected</p>
      {!isReadOnly && (
        <div className="flex gap-2">
          <Button size="sm" icon={<Copy />} onClick={() => editor.getState().duplicateSelected()}>
            Duplicate
          </Button>
          <Button size="sm" icon={<Trash2 />} onClick={() => editor.getState().removeSelected()}>
            Delete
          </Button>
        </div>
      )}
    </div>
  );
}

function OneNode({ id }: { id: string }) {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const type = useEditor((state) => state.nodes.find((node) => node.id === id)?.type);
  const data = useEditor((state) => state.data[id]);
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const problems = useCanvasUi((state) => state.problems);
  const focus = useCanvasUi((state) => (state.focusField?.nodeId === id ? state.focusField : null));
  const panel = useRef<HTMLDivElement>(null);
  const focused = useRef(0);

  useEffect(() => {
    if (!focus || focus.count === focused.current) return;
    focused.current = focus.count;
    const field = focus.field ? panel.current?.querySelector<HTMLElement>(`[data-field="${CSS.escape(focus.field)}"]`) : null;
    field?.closest("details")?.setAttribute("open", "");
    field?.scrollIntoView({ block: "center" });
    (field ?? panel.current)?.querySelector<HTMLElement>("input, textarea, button[role=combobox], select")?.focus({ preventScroll: true });
  }, [focus]);

  const nodeUi = nodeUiOf(type);
  const definition = definitionOf(type ?? "");
  if (!data || !nodeUi || !definition || !isNodeType(type)) return <Nothing />;
  const config = configOf(type, data);
  const label = labelOf(data, type);
  const own = problems.filter((problem) => problem.node_id === id);
  const shape: Record<string, z.ZodType> = definition.config.shape;
  const names = nodeUi.fields?.(config as never) ?? Object.keys(shape);
  const fields = names.flatMap((name) => (shape[name] ? [[name, shape[name]] as [string, z.ZodType]] : []));
  const loose = own.filter((problem) => !fields.some(([name]) => name === problem.field));
  const draw = ([name, schema]: [string, z.ZodType]) => (
    <SchemaField
      key={name}
      nodeId={id}
      name={name}
      schema={schema}
      ui={nodeUi}
      value={config[name]}
      problems={own.filter((problem) => problem.field === name).map((problem) => problem.message)}
      isReadOnly={isReadOnly}
      onChange={(value) => editor.getState().setField(id, name, value)}
    />
  );
  const advanced = fields.filter(([, schema]) => schema.meta()?.advanced);
  const hasWayOut = definition.handles === null || definition.handles.length > 0;
  const isTrigger = definition.group === "trigger";
  const onNext = (handle?: string) => {
    const { nodes, edges } = editor.getState();
    const node = nodes.find((candidate) => candidate.id === id);
    if (!node) return;
    ui.setState({ palette: { placement: placeAfter(node, edges, handle), at: null } });
  };
  return (
    <div ref={panel} className="flex flex-col gap-4 p-3">
      <div className="flex items-center gap-1.5">
        <NodeIcon type={type} className="size-7" />
        <EditableName label="Node name" value={label} isReadOnly={isReadOnly} onCommit={(name) => editor.getState().rename(id, name)} />
        {!isReadOnly && !isTrigger && (
          <span className="flex">
            <IconButton label="Duplicate node" icon={<Copy />} onClick={() => editor.getState().duplicateSelected()} />
            <IconButton label="Delete node" icon={<Trash2 />} onClick={() => editor.getState().remove([id])} />
          </span>
        )}
      </div>
      <p className="-mt-2 text-12 text-ink-faint">
        {typeTitle(type)}. {definition.summary}.
      </p>
      {loose.length > 0 && (
        <Notice tone="waiting">
          {loose.map(({ message }) => (
            <p key={message}>{message}</p>
          ))}
        </Notice>
      )}
      {fields.filter(([, schema]) => !schema.meta()?.advanced).map(draw)}
      {advanced.length > 0 && (
        <details className="group rounded-md border">
          <summary className="flex h-8 cursor-pointer list-none items-center gap-1.5 px-2.5 font-medium text-12 text-ink-soft hover:text-ink [&::-webkit-details-marker]:hidden">
            <ChevronRight aria-hidden className="size-3.5 transition-transform group-open:rotate-90" />
            Advanced
          </summary>
          <div className="flex flex-col gap-4 border-t p-2.5">{advanced.map(draw)}</div>
        </details>
      )}
      {isTrigger && <TriggerPanel config={config} isReadOnly={isReadOnly} />}
      {!isReadOnly && hasWayOut && (
        <div className="flex flex-wrap gap-2 border-t pt-3">
          {(definition.handles ?? [undefined]).map((handle) => (
            <Button key={handle ?? ""} size="sm" icon={<Plus />} onClick={() => onNext(handle)}>
              Next step{handle !== undefined && ` on ${handle}`}
            </Button>
          ))}
          <Button size="sm" variant="ghost" icon={<Spline />} onClick={() => ui.setState({ connectFrom: { nodeId: id, handle: null } })}>
            Connect to…
          </Button>
        </div>
      )}
    </div>
  );
}
