"use client";

import { ArrowUpRight, PackageOpen } from "lucide-react";
import { useEffect, useRef } from "react";
import type { z } from "zod";
import { AddToCanvasButton } from "#components/shell/add-to-canvas.tsx";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { Link } from "#components/ui/link.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Notice } from "#components/ui/notice.tsx";
import type { NodeData } from "#components/workflow-editor/canvas/document/flow-document.ts";
import {
  useCanvasUi,
  useCanvasUiStore,
  useEditor,
  useEditorShallow,
  useEditorStore,
} from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { CurlImport } from "#components/workflow-editor/curl/curl-import.tsx";
import { ConnectionsTree } from "#components/workflow-editor/fields/connections-tree.tsx";
import { NumberField } from "#components/workflow-editor/fields/number-field.tsx";
import { PanelDisclosure } from "#components/workflow-editor/fields/panel-disclosure.tsx";
import { usePanelReads } from "#components/workflow-editor/fields/panel-reads.tsx";
import { SchemaField } from "#components/workflow-editor/fields/schema-field.tsx";
import { ownTimezone } from "#components/workflow-editor/fields/timezone-field.tsx";
import { insertAsTyped } from "#components/workflow-editor/fields/value-field.tsx";
import { EmailStanding } from "#components/workflow-editor/node-panel/email-standing.tsx";
import { ImportedAgentHint } from "#components/workflow-editor/node-panel/imported-agent-hint.tsx";
import { NodeTry } from "#components/workflow-editor/node-panel/node-try.tsx";
import { ReviewPreview } from "#components/workflow-editor/node-panel/review-preview.tsx";
import { configOf } from "#components/workflow-editor/nodes/node-registry.ts";
import type { NodeConfig, NodeUi } from "#components/workflow-editor/nodes/types.ts";
import { useSession } from "#components/workflow-editor/session/session-context.tsx";
import { PinnedOutput } from "#components/workflow-editor/test-runs/pinned-output.tsx";
import { NOTE_SIZE, sizeOf } from "#server/workflow/layout/node-size.ts";
import { fieldOf, hasTexts } from "#server/workflow/node-texts.ts";
import type { NodeDefinition } from "#server/workflow/nodes/definition.ts";
import type { NodeType } from "#server/workflow/nodes/registry.gen.ts";
import type { Problem } from "#server/workflow/schema.ts";

// Loaded with the first trigger of its kind.
const WebhookPanel = loadedOnUse(() =>
  import("#components/workflow-editor/node-panel/trigger-address.tsx").then((module) => module.WebhookPanel),
);
const HttpPanel = loadedOnUse(() =>
  import("#components/workflow-editor/node-panel/trigger-address.tsx").then((module) => module.HttpPanel),
);

// Loaded with the first node at which an import left something to do.
const ToDos = loadedOnUse(() => import("#components/workflow-editor/problems/to-dos.tsx").then((module) => module.ToDos));

/** What a trigger has besides its fields: the address that others call. */
function TriggerPanel({ config, isReadOnly }: { config: NodeConfig<"triggerNode">; isReadOnly: boolean }) {
  if (config.kind === "webhook") return <WebhookPanel sender={config} isReadOnly={isReadOnly} />;
  if (config.kind !== "http") return null;
  return <HttpPanel methods={config.allowed_methods} isReadOnly={isReadOnly} />;
}

export interface NodeSettingsProps {
  id: string;
  type: NodeType;
  data: NodeData;
  label: string;
  definition: NodeDefinition;
  nodeUi: NodeUi;
  isReadOnly: boolean;
}

/** The fields of one node, what else belongs to its type, and what comes in. */
export function NodeSettings({ id, type, data, label, definition, nodeUi, isReadOnly }: NodeSettingsProps) {
  const editor = useEditorStore();
  const problems = useCanvasUi((state) => state.problems);
  const warnings = useCanvasUi((state) => state.warnings);
  const settings = useRef<HTMLDivElement>(null);
  const lastArea = useRef<HTMLTextAreaElement | null>(null);
  const { taker } = usePanelReads();

  const config = configOf(type, data);
  const isFresh = useEditor((state) => state.fresh === id);
  const own = isFresh ? [] : [...problems, ...warnings].filter((problem) => problem.node_id === id);
  const shape: Record<string, z.ZodType> = definition.config.shape;
  const names = nodeUi.fields?.(config as never) ?? Object.keys(shape);
  const fields = names.flatMap((name) => {
    const schema = nodeUi.schemaOf?.(name, config as never) ?? shape[name];
    return schema ? [[name, schema] as [string, z.ZodType]] : [];
  });
  const loose = own.filter((problem) => !fields.some(([name]) => problem.field !== null && name === fieldOf(problem.field)));
  const messagesAt = (name: string, wanted: Problem["severity"]) =>
    own.flatMap(({ field, severity, message }) => (severity === wanted && field !== null && fieldOf(field) === name ? [message] : []));
  const draw = ([name, schema]: [string, z.ZodType]) => (
    <SchemaField
      key={name}
      nodeId={id}
      name={name}
      schema={schema}
      ui={nodeUi}
      value={config[name]}
      config={config}
      problems={messagesAt(name, "error")}
      warnings={messagesAt(name, "warning")}
      isReadOnly={isReadOnly}
      onChange={(value) => {
        // A new schedule goes by the clock of whoever makes it. Set first: one step back undoes the choice.
        const zone = name === "kind" && value === "schedule" && data.timezone === undefined && ownTimezone();
        if (zone) editor.getState().setField(id, "timezone", zone);
        editor.getState().setField(id, name, value);
      }}
    />
  );
  const advanced = fields.filter(([, schema]) => schema.meta()?.advanced);
  const hasPython = fields.some(([, schema]) => schema.meta()?.widget === "python");
  const takesValues = definition.hasInput && (hasPython || hasTexts(definition, "template"));
  const insert = (code: string) => {
    const areas = [...(settings.current?.querySelectorAll<HTMLTextAreaElement>("textarea[data-takes]") ?? [])];
    const area = areas.find(({ id }) => id === lastArea.current?.id) ?? areas[0];
    if (taker.current) return taker.current.current(code);
    // One that was not written in yet is added to at its end.
    if (area) insertAsTyped(area, code, ...(area === lastArea.current ? [] : [area.value.length, area.value.length]));
  };
  const firstField = own.find((problem) => problem.field !== null)?.field ?? null;
  const opened = useRef(false);
  useEffect(() => {
    // Whoever opens a node with a problem sees it; later ones are not scrolled to while one types.
    if (opened.current) return;
    opened.current = true;
    const field = firstField && settings.current?.querySelector<HTMLElement>(`[data-field="${CSS.escape(fieldOf(firstField))}"]`);
    if (!field) return;
    field.closest("details")?.setAttribute("open", "");
    field.scrollIntoView({ block: "nearest" });
  }, [firstField]);
  return (
    <div
      ref={settings}
      className="flex flex-col gap-4"
      onFocusCapture={({ target }) => {
        if (!(target instanceof HTMLTextAreaElement && target.dataset.takes)) return;
        lastArea.current = target;
        taker.current = null;
      }}
    >
      {loose.length > 0 && (
        <Notice tone={loose.some(({ severity }) => severity === "error") ? "failed" : "waiting"}>
          {loose.map(({ message, severity }) => (
            <p key={message}>{severity === "error" ? message : `Warning: ${message}`}</p>
          ))}
        </Notice>
      )}
      {data.to_do !== undefined && <ToDos nodeId={id} />}
      {type === "httpNode" && !isReadOnly && <CurlImport nodeId={id} panel={settings} />}
      {fields.filter(([, schema]) => !schema.meta()?.advanced).map(draw)}
      {type === "workflowNode" && <WorkflowLinks nodeId={id} workflowId={config.workflow_id} isReadOnly={isReadOnly} />}
      {type === "agentNode" && <ImportedAgentHint id={id} data={data} isReadOnly={isReadOnly} />}
      {type === "humanLoopNode" && <EmailStanding address={config.notification_email} />}
      {type === "humanLoopNode" && <ReviewPreview config={config} label={label} />}
      {type === "outputNode" && <ShowOnCanvas label={label} />}
      {type === "noteNode" && <NoteSize id={id} isReadOnly={isReadOnly} />}
      {advanced.length > 0 && (
        <PanelDisclosure title="Advanced">
          <div className="flex flex-col gap-4 border-t p-2.5">{advanced.map(draw)}</div>
        </PanelDisclosure>
      )}
      {definition.group === "trigger" && <TriggerPanel config={config as NodeConfig<"triggerNode">} isReadOnly={isReadOnly} />}
      {(type === "httpNode" || type === "codeNode") && <NodeTry nodeId={id} />}
      <PinnedOutput id={id} type={type} isReadOnly={isReadOnly} />
      {takesValues && <ConnectionsTree language={hasPython ? "python" : "expression"} onInsert={insert} isReadOnly={isReadOnly} />}
    </div>
  );
}

/** The ways from a node that runs another workflow to that one. */
function WorkflowLinks({ nodeId, workflowId, isReadOnly }: { nodeId: string; workflowId: unknown; isReadOnly: boolean }) {
  const ui = useCanvasUiStore();
  if (typeof workflowId !== "string" || workflowId === "") return null;
  return (
    <div className="flex flex-wrap gap-2">
      <Button asChild size="sm" icon={<ArrowUpRight />}>
        <Link href={`/workflows/${workflowId}`}>Open workflow</Link>
      </Button>
      {!isReadOnly && (
        <Button size="sm" icon={<PackageOpen />} onClick={() => ui.setState({ composing: { kind: "inline", nodeId } })}>
          Inline the workflow…
        </Button>
      )}
    </div>
  );
}

/** The way from an Output to a canvas that shows what it gives. */
function ShowOnCanvas({ label }: { label: string }) {
  const { workflowId } = useSession();
  return <AddToCanvasButton source={{ workflow_id: workflowId, output_label: label, name: label }} className="self-start" />;
}

/** How large a note is, for those who do not drag its corner. */
export function NoteSize({ id, isReadOnly }: { id: string; isReadOnly: boolean }) {
  const editor = useEditorStore();
  const { width, height, isSet } = useEditorShallow((state) => {
    const node = state.nodes.find((candidate) => candidate.id === id);
    const drawn = node ? sizeOf(node) : { width: NOTE_SIZE.width, height: NOTE_SIZE.minHeight };
    return {
      width: Math.round(node?.width ?? drawn.width),
      height: Math.round(node?.height ?? drawn.height),
      isSet: node?.width !== undefined || node?.height !== undefined,
    };
  });
  const resize = (size: { width?: number | undefined; height?: number | undefined }) => editor.getState().resize(id, size);
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="sr-only">Size</legend>
      <div className="grid grid-cols-2 gap-2">
        <Field label="Width">
          <NumberField
            {...{ value: width, min: NOTE_SIZE.minWidth, max: NOTE_SIZE.maxWidth, isInteger: true, isReadOnly }}
            onChange={(next) => resize({ width: next })}
          />
        </Field>
        <Field label="Height">
          <NumberField
            {...{ value: height, min: NOTE_SIZE.minHeight, max: NOTE_SIZE.maxHeight, isInteger: true, isReadOnly }}
            onChange={(next) => resize({ height: next })}
          />
        </Field>
      </div>
      {isSet && !isReadOnly && (
        <Button size="sm" variant="ghost" className="self-start" onClick={() => resize({ width: undefined, height: undefined })}>
          As large as its text
        </Button>
      )}
    </fieldset>
  );
}
