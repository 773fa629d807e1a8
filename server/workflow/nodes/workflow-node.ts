import { z } from "zod";
import { defineNode, type NodeContext, type NodeProblem, type NodeScope, onError, template } from "#server/workflow/nodes/definition.ts";

const config = z.looseObject({
  workflow_id: z.string().max(64).default("").meta({ title: "Workflow", widget: "workflow" }),
  input: z
    .string()
    .max(200_000)
    .default("")
    .meta({
      title: "Input",
      description: "What its trigger is given; empty passes on what came before",
      widget: "text-or-params",
      ...template,
    }),
  params: z
    .record(
      z.string().max(100),
      z
        .string()
        .max(200_000)
        .meta({ ...template }),
    )
    .default({})
    .meta({ title: "Parameters", description: "Values by name, for a trigger that asks with a form", widget: "params", item: "parameter" }),
  version: z
    .union([z.literal("current"), z.number().int().min(1)])
    .default("current")
    .meta({ title: "Version", description: "current, or the number of one that stays as it is", widget: "version" }),
  on_error: onError,
});
type Config = z.infer<typeof config>;

/** How a run ended that a node has waited for, as its wait is resolved with it. */
export const ChildEnd = z.object({
  status: z.enum(["completed", "failed", "rejected", "cancelled"]),
  output: z.string().nullable(),
  error: z.string().nullable(),
});
export type ChildEnd = z.infer<typeof ChildEnd>;

function problems({ workflow_id, input, params }: Config, scope: NodeScope): NodeProblem[] {
  const both = input.trim() !== "" && Object.keys(params).length > 0;
  return [
    ...(workflow_id ? [] : [{ field: "workflow_id", message: "Choose a workflow." }]),
    ...(workflow_id && scope.workflowName && scope.workflowName(workflow_id) === undefined
      ? [{ field: "workflow_id", message: "The workflow that this node names is not in this project. Choose another." }]
      : []),
    ...(both ? [{ field: "params", message: "Give an input or parameters, whichever its trigger takes." }] : []),
  ];
}

function run({ config: { workflow_id, input, params, version }, upstream, isWritten }: NodeContext<Config>) {
  const isOwn = isWritten("input");
  const request = { workflow_id, version, input: isOwn ? input : upstream, is_own: isOwn, params };
  return { wait: { reason: "child" as const, deadline: null, request } };
}

export const workflowNode = defineNode({
  type: "workflowNode",
  title: "Workflow",
  summary: "Runs another workflow of the project, and passes on what it puts out",
  group: "data",
  hasInput: true,
  handles: null,
  isEffect: false,
  input: "input",
  startsRuns: true,
  // What the other one does is not known here.
  reachesOut: () => true,
  config,
  pin: () => ({ handle: null }),
  problems,
  run,
  resume(end) {
    if (end.status === "expired") throw new Error("The workflow did not end in time.");
    const { status, output, error } = ChildEnd.parse(end.outcome);
    if (status === "completed") return { output: output ?? "" };
    throw new Error(status === "failed" ? (error ?? "The workflow failed.") : `The workflow's run was ${status}.`);
  },
});
