"use client";

import { ChevronRight } from "lucide-react";
import { useMemo, useState } from "react";
import { cn } from "#components/ui/cn.ts";
import { childEntries, describeKind, parseIfJson, pathStep } from "#components/workflow-editor/fields/json-paths.ts";
import {
  fieldNames,
  type LastRun,
  lastScope,
  REQUEST_PARTS,
  type ReadableScope,
  secondName,
  triggerNames,
} from "#components/workflow-editor/fields/last-values.ts";
import { PanelDisclosure } from "#components/workflow-editor/fields/panel-disclosure.tsx";
import { usePanelReads } from "#components/workflow-editor/fields/panel-reads.tsx";
import { NodeIcon } from "#components/workflow-editor/nodes/node-icon.tsx";
import { pythonString } from "#server/workflow/python-string.ts";
import { asText } from "#server/workflow/resolve-expressions.ts";

export interface ConnectionsTreeProps {
  /** What the fields of this node are written in. */
  language: "expression" | "python";
  /** Puts it into the field that was written in last. */
  onInsert: (code: string) => void;
  isReadOnly: boolean;
}

const codeOf = ({ expression, python }: Connection, language: "expression" | "python") =>
  language === "python" ? python : `{{${expression}}}`;

/** What comes in: every output upstream with its value in the last run. A click puts it in at the caret, a drag where it is dropped. */
export function ConnectionsTree({ language, onInsert, isReadOnly }: ConnectionsTreeProps) {
  const { readable, run } = usePanelReads();
  const nodes = useMemo(() => connectionsOf(readable, run), [readable, run]);
  return (
    <PanelDisclosure title="Connections" aside={run ? "values of the last run" : "no run yet"} isOpen>
      {nodes.length === 0 ? (
        <p className="border-t px-2.5 py-2 text-12 text-ink-faint">Nothing leads here yet. Connect a node to read what it leaves.</p>
      ) : (
        <ul aria-label="Connections" className="max-h-43 min-h-16 resize-y overflow-y-auto border-t p-1">
          {nodes.map((node) => (
            <li key={node.id} className="pb-1">
              <span className="flex items-center gap-1.5 px-1 py-0.5 font-semibold text-12">
                <NodeIcon type={node.type} className="size-5" />
                <span className="truncate">{node.name}</span>
                {node.second !== null && <span className="ml-auto truncate font-normal text-12 text-ink-faint">{node.second}</span>}
              </span>
              <ul aria-label={node.name}>
                {node.values.map((value) => (
                  <Row key={value.expression} value={value} depth={0} {...{ language, onInsert, isReadOnly }} />
                ))}
              </ul>
            </li>
          ))}
        </ul>
      )}
    </PanelDisclosure>
  );
}

function Row({ value, depth, language, onInsert, isReadOnly }: ConnectionsTreeProps & { value: Connection; depth: number }) {
  const [isOpen, setIsOpen] = useState(false);
  const inside = useMemo(() => value.inside(), [value]);
  const code = codeOf(value, language);
  const canInsert = !isReadOnly && code !== null;
  return (
    <li>
      <div className="flex items-center" style={{ paddingLeft: depth * 12 }}>
        {inside.length > 0 ? (
          <button
            type="button"
            aria-expanded={isOpen}
            aria-label={`What is inside ${value.expression}`}
            className="inline-flex size-6 shrink-0 items-center justify-center rounded-sm text-ink-faint hover:bg-hover hover:text-ink"
            onClick={() => setIsOpen(!isOpen)}
          >
            <ChevronRight aria-hidden className={cn("size-3.5 transition-transform", isOpen && "rotate-90")} />
          </button>
        ) : (
          <span className="w-6 shrink-0" />
        )}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: dragging is the mouse's way; the button inside does the same */}
        <div
          draggable={canInsert}
          className="min-w-0 flex-1"
          onDragStart={(event) => {
            event.dataTransfer.setData("text/plain", code ?? "");
            event.dataTransfer.effectAllowed = "copy";
          }}
        >
          <button
            type="button"
            disabled={!canInsert}
            aria-label={`Insert ${value.expression}`}
            title={code ?? undefined}
            className={cn(
              "flex min-h-6 w-full items-baseline gap-2 rounded-sm px-1.5 py-0.5 text-left text-12",
              canInsert ? "cursor-grab hover:bg-hover" : "cursor-default",
            )}
            // The field keeps its caret.
            onMouseDown={(event) => event.detail > 1 && event.preventDefault()}
            onClick={() => code !== null && onInsert(code)}
          >
            <span className="shrink-0 font-mono text-12 text-role-interface">{value.label}</span>
            <span className="min-w-0 flex-1 truncate text-12 text-ink-soft">{value.text?.slice(0, 120)}</span>
            {value.kind && <span className="shrink-0 text-12 text-ink-faint">{value.kind}</span>}
          </button>
        </div>
      </div>
      {isOpen && (
        <ul aria-label={`Inside ${value.expression}`}>
          {inside.map((child) => (
            <Row key={child.expression} value={child} depth={depth + 1} {...{ language, onInsert, isReadOnly }} />
          ))}
        </ul>
      )}
    </li>
  );
}

/** One value upstream, with what reads it. */
export interface Connection {
  /** How it is called where it stands: a field, a key, an index. */
  label: string;
  /** Text between the braces. */
  expression: string;
  /** What reads it in a condition; null for what conditions cannot read. */
  python: string | null;
  /** Its kind and its text in the last run; null where that is not known. */
  kind: string | null;
  text: string | null;
  /** What is inside of it. */
  inside(): Connection[];
}

/** A node upstream, or the trigger, with what can be read of it. */
export interface ConnectedNode {
  id: string;
  name: string;
  /** Under which other name expressions find it too. */
  second: string | null;
  type: string;
  values: Connection[];
}

interface Known {
  value: unknown;
}

const nothing = () => [];

/** One value with what reads it; `known` where the last run has it. */
export function connection(label: string, expression: string, python: string | null, known: Known | undefined): Connection {
  if (!known) return { label, expression, python, kind: null, text: null, inside: nothing };
  const { value } = known;
  const whole = parseIfJson(value);
  // A condition is given texts: what is inside of one has to be read first.
  const open = python === null ? null : typeof value === "string" ? `json.loads(${python})` : python;
  return {
    ...{ label, expression, python, kind: describeKind(whole), text: asText(value) },
    inside: () =>
      childEntries(whole).map(([key, item]) =>
        connection(
          String(key),
          expression + pathStep(key),
          open === null ? null : `${open}[${typeof key === "number" ? key : pythonString(key)}]`,
          { value: item },
        ),
      ),
  };
}

/** Everything upstream with its values in the last run, the nearest node first, then the trigger. */
export function connectionsOf(readable: ReadableScope, run: LastRun | null): ConnectedNode[] {
  const { nodes, early, names, around, trigger } = readable;
  const scope = run && lastScope(readable, run);
  const known = (name: string, field: string): Known | undefined => {
    const fields = scope?.find(name)?.fields;
    return fields && Object.hasOwn(fields, field) ? { value: fields[field] } : undefined;
  };
  const upstream = [...nodes, ...early].flatMap((node): ConnectedNode[] => {
    const own = names.filter((entry) => entry.node === node);
    const name = own.find((entry) => !entry.isAlias)?.name;
    if (name === undefined) return [];
    const values = fieldNames(node, readable).map((field) => {
      const python = field === "output" && !around.includes(node.id) ? `node_outputs[${pythonString(name)}]` : null;
      const made = connection(field, `${name}.${field}`, python, known(name, field));
      // Of a value that is cut off, nothing can be said about what is inside.
      return field === "output" && scope?.find(name)?.isPartial ? { ...made, inside: nothing } : made;
    });
    return [{ id: node.id, name, second: secondName(own), type: node.type, values }];
  });
  if (!trigger || !(nodes.length > 0 || readable.graph.edges.some((edge) => edge.target === readable.nodeId))) return upstream;
  const output = connection("output", "trigger.output", "trigger_output", known("trigger", "output"));
  const parts = trigger.data.kind === "http" && !run ? REQUEST_PARTS : [];
  const values = [
    ...triggerNames(readable).map((name) => connection(name, `trigger.${name}`, null, known("trigger", name))),
    parts.length === 0
      ? output
      : { ...output, inside: () => parts.map((part) => connection(part, `trigger.output.${part}`, null, undefined)) },
  ];
  return [...upstream, { id: trigger.id, name: "trigger", second: null, type: trigger.type, values }];
}
