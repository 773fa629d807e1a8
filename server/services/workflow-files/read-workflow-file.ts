import type { z } from "zod";
import { AppError, isAppError } from "#server/errors.ts";
import type { FieldError } from "#server/schemas/error.ts";
import { Graph } from "#server/schemas/graph.ts";
import { Description, Name } from "#server/schemas/primitives.ts";
import { WORKFLOW_FILE_VERSION, WORKFLOW_FORMAT, WorkflowFile } from "#server/schemas/workflow-file.ts";
import { checkedGraph } from "#server/services/workflows/checked-graph.ts";

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

const refused = (message: string, errors: FieldError[] = [{ path: "file", message }]) =>
  new AppError("VALIDATION_ERROR", message, { errors });

/** Which other program a file is of, by keys that only its files have. */
function foreignName(file: Record<string, unknown>): string | undefined {
  if (Array.isArray(file.nodes) && isObject(file.connections)) return "n8n";
  if (file.kind === "app" || (isObject(file.app) && isObject(file.workflow))) return "Dify";
  if (isObject(file.blocks) || (isObject(file.state) && isObject(file.state.blocks))) return "Sim";
  if (isObject(file.data) && Array.isArray(file.data.nodes)) return "Langflow";
  if (Array.isArray(file.nodes) && file.nodes.some((node) => isObject(node) && isObject(node.data) && "inputAnchors" in node.data))
    return "Flowise";
  return Array.isArray(file.flow) ? "Make" : undefined;
}

function parsed<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = result.error.issues.map(({ path, message }) => ({ path: ["file", ...path].join("."), message }));
  throw refused(
    `The file is damaged at ${errors[0]?.path.replace(/^file\.?/, "") || "its top"}: ${errors[0]?.message}`,
    errors.slice(0, 50),
  );
}

/** A file of ours; a graph of React Flow, as the API shows a workflow, counts as one that brings nothing along. */
function fileOf(raw: Record<string, unknown>): WorkflowFile {
  const { format, version } = raw;
  if (format === WORKFLOW_FORMAT) {
    if (typeof version === "number" && version > WORKFLOW_FILE_VERSION)
      throw refused(
        `The file is of version ${version}, and this service reads files up to version ${WORKFLOW_FILE_VERSION}. Update the service, then import it again.`,
      );
    return parsed(WorkflowFile, raw);
  }
  const foreign = foreignName(raw);
  if (foreign)
    throw refused(
      `This looks like a workflow of ${foreign}. Its steps work otherwise and cannot be read here. Start from a template, or draw it anew.`,
    );
  if (format !== undefined || !Array.isArray(raw.nodes))
    throw refused(
      `This is JSON, but no workflow. Give a file that was exported here ("format": "${WORKFLOW_FORMAT}"), or a React Flow graph with "nodes" and "edges".`,
    );
  const graph = parsed(Graph, { nodes: raw.nodes, edges: raw.edges ?? [] });
  return {
    format: WORKFLOW_FORMAT,
    version: WORKFLOW_FILE_VERSION,
    name: Name.safeParse(raw.name).data ?? "Imported workflow",
    description: Description.safeParse(raw.description).data ?? "",
    ...graph,
    requires: { agents: [], mcp_servers: [], rag_sources: [], skills: [], credentials: [] },
  };
}

/**
 * The workflow in what somebody sent as a file, its graph free of structural faults.
 * @throws AppError VALIDATION_ERROR that says what kind of file it is instead, what is damaged, or every fault of the graph
 */
export function readWorkflowFile(raw: Record<string, unknown>): WorkflowFile {
  const file = fileOf(raw);
  const keys = file.requires.agents.map(({ key }) => key);
  const twice = keys.find((key, index) => keys.indexOf(key) !== index);
  if (twice !== undefined) throw refused(`The file describes two agents under the key "${twice}". Give each a key of its own.`);
  try {
    return { ...file, ...checkedGraph(file) };
  } catch (error) {
    if (!isAppError(error)) throw error;
    throw refused(
      `The graph in the file cannot be saved. ${error.message}`,
      (error.errors ?? []).map(({ path, message }) => ({ path: `file.${path}`, message })),
    );
  }
}
