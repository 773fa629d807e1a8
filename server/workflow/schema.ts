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
/** Keys and list items of one node or connection, nested ones included. */
export const MAX_KEYS = 10_000;

/** True when a value has more keys and list items than MAX_KEYS; counts no further than that. */
function hasTooManyKeys(value: unknown): boolean {
  const open = [value];
  let count = 0;
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (typeof at !== "object" || at === null) continue;
    if (Array.isArray(at)) {
      count += at.length;
      if (count > MAX_KEYS) return true;
      open.push(...at);
    } else
      for (const key in at) {
        if (++count > MAX_KEYS) return true;
        open.push((at as Record<string, unknown>)[key]);
      }
  }
  return false;
}

/** Returns the index of the first item of a list with too many keys, or -1. Cheap enough to come before any schema. */
export const findOversized = (items: unknown): number => (Array.isArray(items) ? items.findIndex(hasTooManyKeys) : -1);

export const TOO_MANY_KEYS = `More than 10,000 keys and list items in one node or connection, nested ones included. Move data that a run reads into its input.`;

/** A list whose items are counted before its schema reads them. */
const counted = <Item extends z.ZodArray>(list: Item) =>
  z.preprocess((items: z.input<Item>, ctx) => {
    const index = findOversized(items);
    if (index === -1) return items;
    ctx.issues.push({ code: "custom", path: [index], message: TOO_MANY_KEYS, input: undefined });
    return z.NEVER;
  }, list);

/** The same of a graph that a client sends. */
export const graphInputShape = { nodes: counted(graphShape.nodes), edges: counted(graphShape.edges) };

export const Graph = z.object(graphShape);
export type Graph = z.infer<typeof Graph> & {
  /** Of a stored snapshot: names of its agents by id when it was stored, by which its expressions read them. */
  readonly agent_names?: Readonly<Record<string, string>>;
};

/** A finding about a graph; `node_id` is null when it concerns the whole graph. */
export const Problem = z
  .object({
    node_id: z.string().nullable(),
    field: z.string().nullable(),
    message: z.string(),
    severity: z.enum(["error", "warning"]).meta({ description: "error prevents a run; warning does not" }),
  })
  .meta({ id: "Problem" });
export type Problem = z.infer<typeof Problem>;

/** The problems of a graph as an answer lists them. */
export const problemsShape = {
  problems: z.array(Problem).meta({
    description: "The first 50 problems, errors before warnings. An error prevents a run; a warning does not",
    example: [],
  }),
  problems_total: z.number().int().meta({ description: "Number of all problems, those beyond the first 50 included", example: 0 }),
};
