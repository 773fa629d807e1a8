import { z } from "zod";
import { CONDITION_HELP } from "#server/workflow/condition-schema.ts";
import { defineNode, type NodeContext, type NodeProblem, type NodeScope, onError } from "#server/workflow/nodes/definition.ts";

const DEFAULT = "default";

const SwitchCase = z.strictObject({
  // Part of the name of its way out, which a connection keeps.
  id: z.string().regex(/^[A-Za-z0-9_-]{1,40}$/, "must be 1 to 40 letters, digits, _ or -"),
  label: z.string().max(120).default("").meta({ title: "Label" }),
  condition: z.string().max(10_000).default("").meta({ title: "Condition", description: CONDITION_HELP, widget: "python" }),
});

const config = z.looseObject({
  cases: z
    .array(SwitchCase)
    .min(1)
    .max(20)
    .refine((cases) => new Set(cases.map(({ id }) => id)).size === cases.length, "each case needs an id of its own")
    .default([{ id: "1", label: "Case 1", condition: "" }])
    .meta({
      title: "Cases",
      description: "Python conditions, asked in this order; the first that holds decides",
      widget: "rows",
      item: "case",
    }),
  on_error: onError,
});

/** Of a node's data as it stands, which may not be whole while somebody works on it. */
function casesIn(data: Readonly<Record<string, unknown>>): { id: string; label: string }[] {
  const cases = Array.isArray(data.cases) ? (data.cases as unknown[]) : config.parse({}).cases;
  return cases.flatMap((one) => {
    const parsed = SwitchCase.safeParse(one);
    return parsed.success ? [{ id: parsed.data.id, label: nameOf(parsed.data) }] : [];
  });
}

/** What a case is called; its id while it has no label. */
const nameOf = ({ id, label }: { id: string; label: string }): string => label.trim() || id;
const handleOf = ({ id }: { id: string }): string => `case:${id}`;

function problems({ cases }: z.infer<typeof config>, scope: NodeScope): NodeProblem[] {
  const names = cases.map(nameOf);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  const isTaken = names.some((name) => name.toLowerCase() === DEFAULT);
  return [
    ...cases.flatMap(({ condition }, index) => {
      const field = `cases.${index}.condition`;
      if (condition.trim() === "") return [{ field, message: `Write the condition of "${names[index]}".` }];
      const fault = scope.conditionFault?.(condition);
      return fault ? [{ field, message: `"${names[index]}": ${fault}` }] : [];
    }),
    ...(twice === undefined ? [] : [{ field: "cases", message: `Two cases are called "${twice}". Give each a label of its own.` }]),
    ...(isTaken ? [{ field: "cases", message: 'A case cannot be called "default": that is the way when none holds.' }] : []),
  ];
}

async function run({ config: { cases }, evaluate }: NodeContext<z.infer<typeof config>>) {
  for (const one of cases) {
    try {
      if (await evaluate(one.condition)) return { output: nameOf(one), handle: handleOf(one) };
    } catch (error) {
      // A fault of the host, or an abort, says nothing about the case.
      if (!(error instanceof Error) || error.name !== "Error") throw error;
      throw new Error(`Case "${nameOf(one)}": ${error.message}`, { cause: error });
    }
  }
  return { output: DEFAULT, handle: DEFAULT };
}

export const switchNode = defineNode({
  type: "switchNode",
  title: "Switch",
  summary: "Goes one of several ways, by the first Python condition that holds",
  group: "logic",
  hasInput: true,
  handles: (data) => [...casesIn(data).map(handleOf), DEFAULT],
  handleTitle: (handle, data) => casesIn(data).find((one) => handleOf(one) === handle)?.label,
  offHandle: DEFAULT,
  errorHandle: DEFAULT,
  passesContent: true,
  isEffect: false,
  config,
  pin(output, data) {
    if (output === DEFAULT) return { handle: DEFAULT };
    const cases = casesIn(data);
    const one = cases.find(({ label }) => label === output);
    const labels = [...cases.map(({ label }) => label), DEFAULT].join(", ");
    return one ? { handle: handleOf(one) } : { refusal: `A Switch leaves the label of a case behind. Write one of: ${labels}.` };
  },
  problems,
  run,
});
