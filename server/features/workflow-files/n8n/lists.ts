import { templateOf } from "#server/features/workflow-files/n8n/expressions.ts";
import type { Reading } from "#server/features/workflow-files/n8n/javascript.ts";
import { at, type SourceNode, wordOf } from "#server/features/workflow-files/n8n/source.ts";
import { after, type Kind, outputOf, pair, rows, type Step } from "#server/features/workflow-files/n8n/step.ts";
import type { PathPart } from "#server/workflow/expressions.ts";

// What n8n does with items: loops here, and what takes their results.

const itemOf = (label: string, path: readonly PathPart[]): Reading => ({ head: label, field: "current_item", path });

/** The list that comes to a node, as an expression. */
const listText = (step: Step, path: readonly string[]): string => templateOf(step.find({ of: "input" }, path)) ?? "";

export const batches: Kind = {
  type: "loopNode",
  data(step) {
    const size = at(step.source.parameters, "batchSize");
    if (typeof size === "number" && size > 1) step.toDo(`n8n took ${size} items at a time. Here the body runs once for each item.`);
    return { items_expression: listText(step, []) };
  },
  reads: ({ label, source }, path, output) =>
    output === doneOf(source) ? (path.length ? undefined : outputOf(label, [])) : itemOf(label, path),
  ways: (source, output) => (output === doneOf(source) ? ["done"] : output < 2 ? ["body"] : []),
};
/** The way by which n8n leaves its loop: the first since version 3, the second before. */
const doneOf = ({ version }: SourceNode) => (version >= 3 ? 0 : 1);

export const splitPath = ({ parameters }: SourceNode): string[] =>
  wordOf(at(parameters, "fieldToSplitOut")).replace(/^=/, "").split(",")[0]?.trim().split(".").filter(Boolean) ?? [];

/** A path into an item without the name that a split value has in n8n. */
function withinSplit(source: SourceNode, path: readonly PathPart[]): readonly PathPart[] {
  const field = wordOf(at(source.parameters, "options", "destinationFieldName")) || splitPath(source).at(-1);
  return field === undefined ? path : (after(path, field) ?? path);
}

const warnOfOtherLists = (step: Step, split: SourceNode) => {
  if (wordOf(at(split.parameters, "fieldToSplitOut")).includes(","))
    step.toDo("n8n split several lists at once. Here the loop goes through the first.", "items_expression");
};

const sizeOf = ({ parameters }: SourceNode): number => {
  const size = at(parameters, "batchSize");
  return typeof size === "number" && Number.isSafeInteger(size) && size > 1 ? size : 1;
};

/** Loop Over Items right behind a Split Out: one loop over the list, or over its slices. */
export const batchesOf = (split: SourceNode): Kind => ({
  ...batches,
  data(step) {
    const size = sizeOf(step.source);
    warnOfOtherLists(step, split);
    if (size > 1) step.toDo(`n8n took ${size} items at a time. Here the item of the loop is a list of as many.`);
    return { items_expression: listText(step, []) };
  },
  reads({ label, source }, path, output) {
    if (output === doneOf(source)) return path.length ? undefined : outputOf(label, []);
    if (sizeOf(source) > 1) return path.length ? undefined : itemOf(label, []);
    return itemOf(label, withinSplit(split, path));
  },
});

/** Split Out before a loop that takes several items at a time: code that cuts the list; undefined for one item at a time. */
export function slicesFor(loop: SourceNode): Kind | undefined {
  const size = sizeOf(loop);
  if (size === 1) return undefined;
  return {
    type: "codeNode",
    data: (step) => ({
      inputs: [pair("text", listText(step, splitPath(step.source)))],
      code: ["items = json.loads(text)", `[items[start:start + ${size}] for start in range(0, len(items), ${size})]`].join("\n"),
    }),
  };
}

export const splitOut: Kind = {
  type: "loopNode",
  data(step) {
    warnOfOtherLists(step, step.source);
    return { items_expression: listText(step, splitPath(step.source)) };
  },
  reads: ({ label, source }, path) => itemOf(label, withinSplit(source, path)),
  ways: (_, output) => (output === 0 ? ["body"] : []),
};

export const aggregate: Kind = {
  type: "codeNode",
  data(step) {
    const p = step.source.parameters;
    const field = wordOf(at(p, "destinationFieldName"), "data");
    const wanted = rows(at(p, "fieldsToAggregate", "fieldToAggregate")).map((row) => {
      const from = wordOf(at(row, "fieldToAggregate"));
      return [wordOf(at(row, "outputFieldName")) || (from.split(".").at(-1) ?? from), from] as const;
    });
    const isWhole = at(p, "aggregate") === "aggregateAllItemData" || wanted.length === 0;
    const parts = isWhole
      ? [`${JSON.stringify(field)}: items`]
      : wanted.map(
          ([name, from]) =>
            `${JSON.stringify(name)}: [item${from
              .split(".")
              .map((part) => `[${JSON.stringify(part)}]`)
              .join("")} for item in items]`,
        );
    return {
      inputs: [pair("text", step.loop() ?? step.inputs()[0] ?? "")],
      code: ["items = json.loads(text)", "if type(items) is not list:", "    items = [items]", `{${parts.join(", ")}}`].join("\n"),
    };
  },
};

export const merge: Kind = {
  type: "codeNode",
  data(step) {
    const { parameters: p } = step.source;
    const mode = [wordOf(at(p, "mode"), "append"), wordOf(at(p, "combineBy"), wordOf(at(p, "combinationMode")))].filter(Boolean).join(", ");
    const isCombined = /^(?:combine|mergeByIndex|multiplex|mergeByKey)/.test(mode);
    if (isCombined && !/Position|Index/i.test(mode))
      step.toDo(
        `n8n joined its inputs by “${mode.slice(0, 100)}”; here the fields of the objects are put together. See whether that is what it should do.`,
        "code",
      );
    const inputs = step.inputs().map((value, index) => pair(`input_${index + 1}`, value));
    const values = `values = [json.loads(text) for text in [${inputs.map(({ name }) => name).join(", ")}] if text.strip() != ""]`;
    const combined = ["result = {}", "for value in values:", "    result.update(value)", "result"];
    if (!isCombined && inputs.length > 1)
      step.toDo(
        "n8n put the items of its inputs one after the other. Here the output is a list with one value for each input: put a Loop behind it, or read {{name of this node.output[0]}}.",
        "code",
      );
    const code = isCombined ? [values, ...combined] : [values, "values[0] if len(values) == 1 else values"];
    return { inputs, code: code.join("\n") };
  },
};
