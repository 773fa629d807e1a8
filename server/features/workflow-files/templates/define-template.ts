import { slugOf } from "#server/features/workflow-files/export.ts";
import { type FileAgent, WorkflowFile, type WorkflowTemplate } from "#server/features/workflow-files/schema.ts";
import { credentialsIn } from "#server/runs/executor/node-facts.ts";

type Data = { label: string } & Record<string, unknown>;

/** A template written short. */
export interface TemplateSketch {
  id: string;
  name: string;
  /** What it does, in one sentence: on the card of the gallery, and the description of the workflow. */
  summary: string;
  /** Markdown of the note above the graph: what to change. */
  note: string;
  /** By a key of the sketch; nodes name one as `agent_id`. No model is named: whoever uses the template chooses. */
  agents?: Record<string, { name: string } & Partial<FileAgent>>;
  /** By id: type without "Node", column and row on the canvas, data. */
  nodes: Record<string, [type: string, column: number, row: number, data: Data]>;
  /** "a>b", or "a.true>b" for one of several ways out. */
  edges: string[];
}

/** Distance of the columns and rows, in pixels: a card is 250 wide and about 130 high. */
const COLUMN = 330;
const ROW = 190;
/**
 * Where the first node of a loop's body stands, from the place of the loop: the frame that is drawn around the body then
 * begins there (components/workflow-editor/canvas/geometry/loop-frames.ts).
 */
export const BODY = { column: 100 / COLUMN, row: 80 / ROW } as const;
/** How many columns after the loop the node stands that follows it, when its body is so many nodes in a row. */
export const afterBody = (count: number): number => BODY.column + count + 50 / COLUMN;
/** How far above the trigger the note begins: it is as wide as the first column and at most about 240 high. */
const NOTE_TOP = -290;

/** A sketch as the file that the gallery offers. */
export function defineTemplate({ id, name, summary, note, agents = {}, nodes, edges }: TemplateSketch): WorkflowTemplate {
  // In the order and under the keys that an export gives them.
  const used = [...new Set(Object.values(nodes).flatMap(([, , , { agent_id }]) => (typeof agent_id === "string" ? [agent_id] : [])))];
  const definitions = used.flatMap((key) => {
    const agent = agents[key];
    return agent ? [{ ...agent, key: slugOf(agent.name), system_prompt: agent.system_prompt?.trim() ?? "" }] : [];
  });
  const dataOf = ({ agent_id, ...data }: Data) => {
    const agent = agents[String(agent_id)];
    return agent ? { agent_id: slugOf(agent.name), ...data } : data;
  };
  const graph = {
    nodes: [
      ...Object.entries(nodes).map(([key, [type, column, row, data]]) => ({
        id: key,
        type: `${type}Node`,
        position: { x: Math.round(column * COLUMN), y: Math.round(row * ROW) },
        data: dataOf(data),
      })),
      {
        id: "note",
        type: "noteNode",
        position: { x: 0, y: NOTE_TOP },
        data: { label: "Note", content: note.trim(), color: "yellow" },
      },
    ],
    edges: edges.map((text) => {
      const [from = "", target = ""] = text.split(">");
      const [source = "", sourceHandle] = from.split(".");
      return { id: text.replace(/[.>]/g, "-"), source, target, ...(sourceHandle && { sourceHandle }) };
    }),
  };
  const named = (list: "mcp_servers" | "rag_sources") =>
    [...new Set(definitions.flatMap((agent) => agent[list] ?? []))].sort().map((one) => ({ name: one }));
  const file = WorkflowFile.parse({
    format: "treadle-workflow",
    version: 1,
    name,
    description: summary,
    ...graph,
    requires: {
      agents: definitions,
      mcp_servers: named("mcp_servers"),
      rag_sources: named("rag_sources"),
      skills: [],
      credentials: [...credentialsIn(graph)].sort(),
    },
  });
  return { id, summary, needs_model: definitions.length > 0, file };
}
