import { z } from "zod";
import { nodeChoices } from "#components/workflow-editor/canvas/document/node-choices.ts";
import { type NodeType, nodeDefinitions } from "#server/workflow/nodes/registry.gen.ts";

// The page of a node has two files beside it: example.json, a workflow as it can be imported, and run.json, which says what a run of
// it is given and comes to, and what stops the node. A test runs all of that.

/** What a run is given, and what others do meanwhile. */
const given = {
  input: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  /** What the server answers that an HTTP node calls, or that it says nothing, or is not there. */
  server: z.union([z.strictObject({ status: z.number(), body: z.unknown() }), z.enum(["silent", "gone"])]).optional(),
  /** What the agent's model answers, or the status with which its provider refuses. */
  answer: z.string().optional(),
  provider: z.number().optional(),
  call: z.unknown().optional(),
  review: z.strictObject({ decision: z.enum(["approved", "rejected"]), comment: z.string() }).optional(),
};

const Run = z.strictObject({
  ...given,
  output: z.string().optional(),
  /** Those of several Outputs by label, as far as they are always the same. */
  outputs: z.record(z.string(), z.string()).optional(),
  error: z.string().optional(),
});

export const NodeRun = z.strictObject({
  run: Run,
  errors: z.array(
    z.strictObject({
      when: z.string(),
      /** What the node's data has otherwise. */
      data: z.record(z.string(), z.unknown()).optional(),
      /** Ids of nodes that are left out, since they read what the node then has not. */
      without: z.array(z.string()).optional(),
      ...given,
      error: z.string(),
    }),
  ),
});
export type NodeRun = z.infer<typeof NodeRun>;

/** The folder of a node's page, below app/docs/nodes. */
export const pageOf = (type: NodeType): string => nodeDefinitions[type].title.toLowerCase().replaceAll(" ", "-");

/** The pages of all nodes, in the order of the palette. */
export const nodePages = (["triggerNode", ...nodeChoices.map(({ type }) => type)] as const).map((type) => ({
  href: `/docs/nodes/${pageOf(type)}`,
  label: nodeDefinitions[type].title,
  summary: nodeDefinitions[type].summary,
}));

/** Names of what stands in a run, as a reader is told them. */
export const RUN_WORDS: Record<keyof z.infer<typeof Run>, string> = {
  input: "Input",
  params: "Values of the form",
  server: "The server answers",
  answer: "The agent answers",
  provider: "The provider answers",
  call: "A call brings",
  review: "A reviewer decides",
  output: "Output",
  outputs: "Outputs",
  error: "Error",
};
