import { z } from "zod";
import { GraphNode, Position } from "#server/workflow/schema.ts";

// Changes of a graph as somebody says them who does not hold the whole of it: the assistant. Pure and browser-safe: the server
// checks with it, the canvas shows with it.

const NodeId = z.string().min(1).max(100);
const Handle = z.string().min(1).max(60).optional().meta({ description: "Which way out, of a node with several" });
const ends = {
  source: NodeId.meta({ description: "Id of the node that the connection leaves" }),
  source_handle: Handle,
  target: NodeId.meta({ description: "Id of the node that it leads to" }),
};

/** One change of a graph (contract, section 8). */
export const Operation = z
  .discriminatedUnion("op", [
    z.strictObject({
      op: z.literal("add_node"),
      node: z
        .strictObject({
          id: NodeId.meta({ description: "Yours to choose, unlike every other in the workflow", example: "summarize" }),
          type: GraphNode.shape.type,
          data: GraphNode.shape.data,
          position: Position.optional().meta({ description: "Left out, it is placed behind what leads to it" }),
          parentId: NodeId.optional().meta({ description: "Id of the loop whose frame it stands in" }),
        })
        .meta({ description: "A node of the workflow's graph" }),
    }),
    z.strictObject({
      op: z.literal("update_node"),
      id: NodeId,
      data: GraphNode.shape.data.meta({ description: "The fields to set; the others stay. null takes a field away" }),
    }),
    z.strictObject({ op: z.literal("remove_node"), id: NodeId.meta({ description: "Goes with all of its connections" }) }),
    z.strictObject({ op: z.literal("connect"), ...ends }),
    z.strictObject({ op: z.literal("disconnect"), ...ends }),
    z.strictObject({ op: z.literal("arrange") }).meta({ description: "Lays the whole workflow out anew" }),
  ])
  .meta({ id: "Operation" });
export type Operation = z.infer<typeof Operation>;

/** Most operations of one proposal. */
export const MOST_OPERATIONS = 200;
