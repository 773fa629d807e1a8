import { childEntries, describeKind, parseIfJson, pathStep, schemaFields } from "#components/workflow-editor/fields/json-paths.ts";
import {
  fieldNames,
  type LastRun,
  lastScope,
  REQUEST_PARTS,
  type ReadableScope,
  triggerNames,
} from "#components/workflow-editor/fields/last-values.ts";
import { own } from "#server/shared/json-text.ts";
import { openExpressionAt } from "#server/workflow/expression-scan.ts";
import { CREDENTIALS } from "#server/workflow/expressions.ts";
import { labelOf } from "#server/workflow/graph.ts";
import { asText, type ScopeEntry } from "#server/workflow/resolve-expressions.ts";
import type { GraphNode } from "#server/workflow/schema.ts";

/** Something that an expression can read at a node. */
export interface ExpressionOption {
  /** Text between the braces, e.g. `Research.output`. */
  expression: string;
  /** What stands before the first dot. */
  name: string;
  /** What follows it: the field, without a path into it. */
  field: string;
  nodeType: string;
  /** What kind of value it is, where that is known. */
  kind: string | null;
  /** What it was in the last run. */
  lastValue: string | null;
}

/** Steps into JSON that are offered below one output. */
const MAX_STEPS = 12;

/** Everything upstream of a node, the nearest first, then the trigger, agents' own names, the execution and the project's credentials. */
export function expressionOptions(readable: ReadableScope, run: LastRun | null): ExpressionOption[] {
  const { nodes, early, names, trigger, scope } = readable;
  const values = run && lastScope(readable, run);
  const option = (name: string, field: string, nodeType: string, entry: ScopeEntry | undefined): ExpressionOption => {
    const value = own(entry?.fields, field);
    const isKnown = entry !== undefined && Object.hasOwn(entry.fields, field);
    return {
      ...{ expression: `${name}.${field}`, name, field, nodeType },
      kind: isKnown ? describeKind(parseIfJson(value)) : null,
      lastValue: isKnown ? asText(value) : null,
    };
  };
  const ofNode = (name: string, node: GraphNode) => {
    const entry = values?.find(name);
    const options = fieldNames(node, readable).map((field) => option(name, field, node.type, entry));
    return options.flatMap((parent) => {
      const { field, expression } = parent;
      const inside = field !== "output" || !entry?.isPartial ? childEntries(parseIfJson(own(entry?.fields, field))) : [];
      const steps = inside.slice(0, MAX_STEPS).map(([key, item]) => ({
        ...{ expression: expression + pathStep(key), name, field, nodeType: node.type, kind: describeKind(item), lastValue: asText(item) },
      }));
      const expected =
        steps.length > 0 || field !== "output" || typeof node.data.agent_id !== "string"
          ? []
          : schemaFields(scope.outputSchema?.(node.data.agent_id)).map(([key, about]) => ({
              ...{ expression: expression + pathStep(key), name, field, nodeType: node.type, kind: about || null, lastValue: null },
            }));
      return [parent, ...steps, ...expected];
    });
  };

  const labels = names.filter((entry) => !entry.isAlias);
  const outputs = [...nodes, ...early].flatMap((node) =>
    labels.filter((entry) => entry.node === node).flatMap((entry) => ofNode(entry.name, node)),
  );
  // An agent's own name reads the same as its label: its fields are not listed twice.
  const aliases = names.flatMap(({ name, node, isAlias }) =>
    isAlias ? [{ ...option(name, "output", node.type, values?.find(name)), kind: `also ${labelOf(node)}` }] : [],
  );
  const entry = values?.find("trigger");
  const fromTrigger = [...triggerNames(readable), "output"].map((field) => option("trigger", field, "triggerNode", entry));
  // A form's output is its values again.
  const given = trigger?.data.kind === "params" ? [] : childEntries(parseIfJson(entry?.fields.output)).slice(0, MAX_STEPS);
  const common = { name: "trigger", field: "output", nodeType: "triggerNode" };
  for (const [key, value] of given)
    fromTrigger.push({ ...common, expression: `trigger.output${pathStep(key)}`, kind: describeKind(value), lastValue: asText(value) });
  if (given.length === 0 && trigger?.data.kind === "http")
    for (const part of REQUEST_PARTS) fromTrigger.push({ ...common, expression: `trigger.output.${part}`, kind: null, lastValue: null });
  const execution = option("execution", "id", "", values?.find("execution"));
  const credentials = (scope.credentialNames ?? []).map((name) => ({ ...option(CREDENTIALS, name, "", undefined), kind: "secret" }));
  return [...outputs, ...fromTrigger, ...aliases, execution, ...credentials];
}

/** The beginning of an expression before the caret: where it starts, and what has been typed of it. */
export function unfinishedExpression(text: string, caret: number): { start: number; query: string } | null {
  const before = text.slice(0, caret);
  const open = openExpressionAt(before);
  if (open !== undefined) return { start: open, query: before.slice(open + 2).trimStart() };
  const slash = /(?:^|\s)\/([\w. ]{0,40})$/.exec(before);
  if (!slash) return null;
  return { start: slash.index + (slash[0].startsWith("/") ? 0 : 1), query: slash[1] ?? "" };
}

/** The text with the expression put where its beginning stood (closing braces that are there already are used). */
export function insertExpression(text: string, start: number, caret: number, expression: string): { text: string; caret: number } {
  const inserted = `{{${expression}}}`;
  const rest = text.slice(caret).replace(/^\s*\}\}/, "");
  return { text: text.slice(0, start) + inserted + rest, caret: start + inserted.length };
}
