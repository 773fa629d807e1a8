import { entriesOf, kindOf, pathStep, unpacked } from "#components/workflow-editor/fields/json-paths.ts";
import { isCut, type LastRun, lastScope, REQUEST_PARTS } from "#components/workflow-editor/fields/last-values.ts";
import { pythonString } from "#components/workflow-editor/fields/python-text.ts";
import { fieldNames, parameterNames, type Readable } from "#components/workflow-editor/fields/readable.ts";
import { asText } from "#server/workflow/expressions.ts";

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
  type: string;
  values: Connection[];
}

interface Known {
  value: unknown;
}

const nothing = () => [];

function connection(label: string, expression: string, python: string | null, known: Known | undefined): Connection {
  if (!known) return { label, expression, python, kind: null, text: null, inside: nothing };
  const { value } = known;
  const whole = unpacked(value);
  // A condition is given texts: what is inside of one has to be read first.
  const open = python === null ? null : typeof value === "string" ? `json.loads(${python})` : python;
  return {
    ...{ label, expression, python, kind: kindOf(whole), text: asText(value) },
    inside: () =>
      entriesOf(whole).map(([key, item]) =>
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
export function connectionsOf(readable: Readable, run: LastRun | null): ConnectedNode[] {
  const { nodes, names, around, trigger } = readable;
  const scope = run && lastScope(readable, run);
  const known = (name: string, field: string): Known | undefined => {
    const fields = scope?.find(name)?.fields;
    return fields && Object.hasOwn(fields, field) ? { value: fields[field] } : undefined;
  };
  const upstream = nodes.flatMap((node): ConnectedNode[] => {
    const own = names.filter((entry) => entry.node === node);
    const name = own.find((entry) => !entry.isAlias)?.name;
    if (name === undefined) return [];
    const pythonName = (own.find((entry) => entry.isAlias) ?? own[0])?.name ?? name;
    const values = fieldNames(node, readable).map((field) => {
      const python = field === "output" && !around.includes(node.id) ? `node_outputs[${pythonString(pythonName)}]` : null;
      const made = connection(field, `${name}.${field}`, python, known(name, field));
      // Of a value that is cut off, nothing can be said about what is inside.
      return field === "output" && run && isCut(node, run) ? { ...made, inside: nothing } : made;
    });
    return [{ id: node.id, name, type: node.type, values }];
  });
  if (!trigger || !(nodes.length > 0 || readable.graph.edges.some((edge) => edge.target === readable.nodeId))) return upstream;
  const output = connection("output", "trigger.output", "trigger_output", known("trigger", "output"));
  const parts = trigger.data.kind === "http" && !run ? REQUEST_PARTS : [];
  const values = [
    ...parameterNames(readable).map((name) => connection(name, `trigger.${name}`, null, known("trigger", name))),
    parts.length === 0
      ? output
      : { ...output, inside: () => parts.map((part) => connection(part, `trigger.output.${part}`, null, undefined)) },
  ];
  return [...upstream, { id: trigger.id, name: "trigger", type: trigger.type, values }];
}
