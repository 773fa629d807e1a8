import { type LastRun, lastOutput, lastUpstream } from "#components/workflow-editor/fields/last-values.ts";
import { pythonString } from "#components/workflow-editor/fields/python-text.ts";
import { hasValuesBefore, type Readable } from "#components/workflow-editor/fields/readable.ts";

/** Something that a condition can read. */
export interface PythonOption {
  code: string;
  /** Type of the node that it comes from; empty for none in particular. */
  nodeType: string;
  /** What it is, or what it was in the last run. */
  hint: string;
}

/** The three variables, then one entry of node_outputs for each node upstream: agents by name, others by label. */
export function pythonOptions(readable: Readable, run: LastRun | null): PythonOption[] {
  const { nodes, names, around } = readable;
  const entries = nodes.flatMap((node) => {
    if (around.includes(node.id)) return [];
    const own = names.filter((entry) => entry.node === node);
    const name = (own.find((entry) => entry.isAlias) ?? own[0])?.name;
    return name === undefined ? [] : [{ name, node }];
  });
  const seen = new Set<string>();
  const outputs = entries.flatMap(({ name, node }) => {
    if (seen.has(name)) return [];
    seen.add(name);
    const last = run ? lastOutput(node, run) : undefined;
    return [{ code: `node_outputs[${pythonString(name)}]`, nodeType: node.type, hint: last || "Its output, once it has run" }];
  });
  const before = run && hasValuesBefore(readable, run) ? lastUpstream(readable, run, true) : "";
  return [
    { code: "output", nodeType: "", hint: before || "Output of the node before" },
    { code: "trigger_output", nodeType: "triggerNode", hint: run?.input || "What started the run" },
    ...outputs,
    ...(outputs.length ? [] : [{ code: "node_outputs", nodeType: "", hint: "Outputs of other nodes, by name" }]),
  ];
}
