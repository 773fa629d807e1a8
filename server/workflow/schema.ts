import { z } from "zod";

// A graph is React Flow JSON as it stands: camel case inside, and keys of React Flow that we do not know are kept.

export const Position = z.object({ x: z.number().min(-1e6).max(1e6), y: z.number().min(-1e6).max(1e6) });

const withoutSecret = (data: Record<string, unknown>): Record<string, unknown> => {
  if (!Object.hasOwn(data, "webhook_secret")) return data;
  const { webhook_secret: _, ...rest } = data;
  return rest;
};

export const GraphNode = z
  .looseObject({
    id: z.string().min(1).max(100),
    type: z.string().min(1).max(60).meta({ description: "triggerNode, agentNode, outputNode, noteNode, …" }),
    position: Position,
    // Webhook secrets are made by the service and kept apart, sealed: one that a client writes here is no secret, and is dropped.
    data: z
      .record(z.string(), z.unknown())
      .overwrite(withoutSecret)
      .meta({ description: "label and the config fields of the node's type" }),
  })
  .meta({ id: "GraphNode" });
export type GraphNode = z.infer<typeof GraphNode>;

export const GraphEdge = z
  .looseObject({
    id: z.string().min(1).max(200),
    source: z.string().min(1).max(100),
    target: z.string().min(1).max(100),
    sourceHandle: z.string().max(60).nullish(),
    targetHandle: z.string().max(60).nullish(),
  })
  .meta({ id: "GraphEdge" });
export type GraphEdge = z.infer<typeof GraphEdge>;

/** Most characters of a pinned output. */
export const MAX_PINNED = 65_536;

/** `data.pinned` of a node: an output that test runs of the editor take instead of running the node. */
export const Pinned = z.strictObject({ output: z.string().max(MAX_PINNED) });

export const graphShape = {
  nodes: z
    .array(GraphNode)
    .max(2000)
    .meta({
      example: [
        { id: "trigger-1", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind: "manual", default_input: "tea" } },
        { id: "output-1", type: "outputNode", position: { x: 360, y: 0 }, data: { label: "Answer", value: "{{trigger.output}}" } },
      ],
    }),
  edges: z
    .array(GraphEdge)
    .max(10_000)
    .meta({ example: [{ id: "edge-1", source: "trigger-1", target: "output-1" }] }),
};
export const Graph = z.object(graphShape);
export type Graph = z.infer<typeof Graph>;

/** Something that would stop a run; `node_id` is null when it concerns the whole graph. */
export const Problem = z
  .object({ node_id: z.string().nullable(), field: z.string().nullable(), message: z.string() })
  .meta({ id: "Problem" });
export type Problem = z.infer<typeof Problem>;
