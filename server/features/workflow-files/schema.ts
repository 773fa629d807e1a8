import { z } from "zod";
import { AgentName, AgentTool, CreateAgentInput } from "#server/features/agents/schema.ts";
import { CreateSkillInput } from "#server/features/skills/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { providerIds } from "#server/llm/kinds.ts";
import { Description, Id, Name } from "#server/shared/primitives-schema.ts";
import { graphShape } from "#server/workflow/schema.ts";

// A workflow as one file: its graph, and what it needs around it, by name. It holds no id of an installation and no secret.

export const WORKFLOW_FORMAT = "treadle-workflow";
/** Counts up when a file that this version reads could be misread. */
export const WORKFLOW_FILE_VERSION = 1;

const Key = z
  .string()
  .min(1)
  .max(64)
  .meta({ description: "Name within the file, by which nodes refer to it as agent_id", example: "writer" });
const names = (what: string) =>
  z
    .array(Name)
    .max(50)
    .default([])
    .meta({ description: `Names of ${what}` });
const { description, system_prompt, temperature, max_tokens, output_schema } = CreateAgentInput.shape;

export const FileAgent = z
  .strictObject({
    key: Key,
    name: AgentName.meta({ description: "Name of the agent", example: "Writer" }),
    description: description.unwrap().default(""),
    provider: z
      .enum(providerIds)
      .nullable()
      .default(null)
      .meta({ description: "Kind of LLM key that it was made with; null when any will do", example: "openai" }),
    model: z.string().trim().max(200).default("").meta({ description: "Plain model id; empty when any will do", example: "gpt-4.1-mini" }),
    system_prompt: system_prompt.unwrap().default(""),
    temperature: temperature.unwrap().default(null),
    max_tokens: max_tokens.unwrap().default(null),
    tools: z.array(AgentTool).max(10).default([]).meta({ description: "Built-in tools" }),
    output_schema: output_schema.unwrap().default(null),
    mcp_servers: names("the MCP servers whose tools it may call"),
    rag_sources: names("the knowledge sources that it may search"),
    skills: names("the skills that its prompt begins with"),
  })
  .meta({ id: "WorkflowFileAgent" });
export type FileAgent = z.infer<typeof FileAgent>;

/**
 * What an import left open of the agent of a node, kept in the node's data as `imported_agent` so that it is not lost: the
 * agent's definition, and for which `agent_id` (empty: none yet) it is still to be done.
 */
const ImportedAgent = z.strictObject({ agent_id: z.string().max(64), ...FileAgent.shape });
export type ImportedAgent = z.infer<typeof ImportedAgent>;

/** What is still open of a node's agent; undefined when nothing is, or another agent was chosen since. */
export function importedAgentOf(data: Readonly<Record<string, unknown>>): ImportedAgent | undefined {
  if (data.imported_agent === undefined) return undefined;
  const { data: imported } = ImportedAgent.safeParse(data.imported_agent);
  return imported && imported.agent_id === (data.agent_id ?? "") ? imported : undefined;
}

export const FileSkill = z
  .strictObject({
    name: Name,
    description: Description,
    prompt: CreateSkillInput.shape.prompt.nullable().meta({ description: "Instructions for the model; null for a built-in skill" }),
    model: CreateSkillInput.shape.model,
  })
  .meta({ id: "WorkflowFileSkill" });
export type FileSkill = z.infer<typeof FileSkill>;

export const FileWorkflow = z
  .strictObject({
    key: Key.meta({ description: "Name within the file, by which nodes refer to it as workflow_id", example: "price" }),
    name: Name,
    description: Description,
    ...graphShape,
  })
  .meta({ id: "WorkflowFileWorkflow" });
export type FileWorkflow = z.infer<typeof FileWorkflow>;

const Named = z.strictObject({ name: Name });
const requires = z
  .strictObject({
    agents: z.array(FileAgent).max(200).default([]).meta({ description: "Agents that nodes name, as definitions without a key" }),
    mcp_servers: z.array(Named).max(200).default([]).meta({ description: "MCP servers of those agents: to be linked at the import" }),
    rag_sources: z.array(Named).max(200).default([]).meta({ description: "Knowledge sources of those agents: to be linked at the import" }),
    skills: z
      .array(FileSkill)
      .max(200)
      .default([])
      .meta({ description: "Skills of those agents; made at the import where they are not there" }),
    workflows: z.array(FileWorkflow).min(1).max(50).optional().meta({
      description: "Workflows that nodes run, those that others run first; made at the import where there is none of the name",
    }),
    credentials: z
      .array(z.string().min(1).max(120))
      .max(200)
      .default([])
      .meta({ description: "Names that expressions read; their values never travel", example: ["CRM_TOKEN"] }),
  })
  .meta({ id: "WorkflowFileRequires", description: "What the workflow needs around it" });

const MaskedValue = z
  .strictObject({
    of: z.enum(["node", "agent", "skill", "connection", "workflow"]),
    name: z.string().max(200).meta({ description: "Label of the node, or name of the agent or skill", example: "Draft" }),
    field: z.string().max(200).meta({ example: "input" }),
    what: z.string().max(100).meta({ description: "What it looked like", example: "GitHub token" }),
  })
  .meta({ id: "WorkflowFileMaskedValue" });
export type MaskedValue = z.infer<typeof MaskedValue>;
const masked = z.array(MaskedValue).max(2000);

export const WorkflowFile = z
  .strictObject({
    format: z.literal(WORKFLOW_FORMAT),
    version: z.literal(WORKFLOW_FILE_VERSION),
    name: Name,
    description: Description,
    ...graphShape,
    requires,
    masked: masked.optional().meta({ description: "Where •••• stands for what looked like a secret; left out when nothing did" }),
  })
  .meta({ id: "WorkflowFile", description: "A workflow as one file, without secrets and without ids of an installation" });
export type WorkflowFile = z.infer<typeof WorkflowFile>;

export const ExportWorkflowInput = z.strictObject({
  workflow_id: Id,
  draft: z.boolean().default(false).meta({ description: "true: what is on the canvas; false: the saved version" }),
});
export type ExportWorkflowInput = z.infer<typeof ExportWorkflowInput>;

// What may stand here is told apart by `format`, so that another program's file is refused with a sentence about it
// (services/workflow-files/read-workflow-file.ts) and not with a list of fields; the document names the two shapes.
const anyFile = z.record(z.string().max(200), z.unknown()).meta({
  title: "File",
  description:
    "A file of GET /workflows/{workflow_id}/export, a React Flow graph ({nodes, edges}), or a workflow of n8n ({nodes, connections})",
  example: {
    format: WORKFLOW_FORMAT,
    version: WORKFLOW_FILE_VERSION,
    name: "Line",
    description: "",
    nodes: [
      { id: "start", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind: "manual", default_input: "tea" } },
      { id: "draft", type: "agentNode", position: { x: 330, y: 0 }, data: { label: "Draft", agent_id: "writer" } },
    ],
    edges: [{ id: "start-draft", source: "start", target: "draft" }],
    requires: { agents: [{ key: "writer", name: "Writer", model: "gpt-4.1-mini", system_prompt: "Answer in one line." }] },
  },
});

const AgentLink = z
  .discriminatedUnion("action", [
    z.strictObject({
      key: Key,
      action: z.literal("use").meta({ description: "Nodes ask an agent that is here" }),
      agent_id: Id,
    }),
    z.strictObject({
      key: Key,
      action: z.literal("create").meta({ description: "Makes the agent of the file; one short call checks key and model" }),
      llm_key_id: Id.meta({ description: "The LLM key that pays for its calls" }),
      model: z.string().trim().min(1).max(200).optional().meta({ description: "Instead of the model that the file names" }),
    }),
    z.strictObject({
      key: Key,
      action: z.literal("open").meta({ description: "Stays a problem of its nodes; its definition is kept there" }),
    }),
  ])
  .meta({ id: "WorkflowFileAgentLink" });

const ImportLinks = z
  .strictObject({
    agents: z
      .array(AgentLink)
      .max(200)
      .default([])
      .meta({ description: "Left out: the agent of the same name if there is one, else open" }),
    mcp_servers: z
      .array(z.strictObject({ name: Name, mcp_id: Id.nullable() }))
      .max(200)
      .default([])
      .meta({ description: "By the file's name; null leaves one open. Left out: the server of the same name, if there is one" }),
    rag_sources: z
      .array(z.strictObject({ name: Name, rag_id: Id.nullable() }))
      .max(200)
      .default([])
      .meta({ description: "By the file's name; null leaves one open. Left out: the source of the same name, if there is one" }),
  })
  .meta({ id: "WorkflowImportLinks" });
export type ImportLinks = z.infer<typeof ImportLinks>;

export const CheckImportInput = z.strictObject({ file: anyFile });
export type CheckImportInput = z.infer<typeof CheckImportInput>;
export const ImportGraphInput = z.strictObject({
  file: anyFile,
  links: ImportLinks.optional().meta({ description: "What stands for what the file names" }),
});
export type ImportGraphInput = z.infer<typeof ImportGraphInput>;
export const ImportWorkflowInput = ImportGraphInput.extend({
  name: Name.optional().meta({ description: "Instead of the file's name" }),
  enabled: z.boolean().optional().meta({ description: "Left out: off for a schedule, so that nothing runs before you looked; else on" }),
});
export type ImportWorkflowInput = z.infer<typeof ImportWorkflowInput>;

/** What became of a file of another program. */
export const ImportReport = z
  .object({
    format: z.enum(["n8n"]).meta({ description: "The program that wrote the file" }),
    nodes: z
      .array(
        z.object({
          name: z.string().meta({ description: "In the file", example: "Get orders" }),
          type: z.string().meta({ description: "In the file", example: "n8n-nodes-base.httpRequest" }),
          node_id: z.string().nullable().meta({ description: "Id of the node that it became" }),
          became: z
            .string()
            .nullable()
            .meta({ description: "Type of that node; noteNode: not known here; null: not needed here", example: "httpNode" }),
        }),
      )
      .meta({ description: "Every node of the file" }),
    to_do: z
      .array(z.object({ node_id: z.string(), field: z.string().nullable(), message: z.string() }))
      .meta({ description: "What a person has to see to; also kept as `to_do` in the data of each node" }),
  })
  .meta({ id: "WorkflowImportReport" });
export type ImportReport = z.infer<typeof ImportReport>;
const importReport = ImportReport.nullable().meta({
  description: "Of another program's file, what became of it; null for one of this service",
});

/** A workflow that was made from a file. */
export const ImportedWorkflow = Workflow.extend({ import_report: importReport }).meta({ id: "ImportedWorkflow" });
export type ImportedWorkflow = z.infer<typeof ImportedWorkflow>;

const Existing = z
  .object({ id: Id, name: z.string() })
  .nullable()
  .meta({ description: "What is here under this name; null when nothing is" });
const needed = z.object({
  name: z.string(),
  existing: Existing,
  agents: z.array(z.string()).meta({ description: "Agents of the file that have it" }),
});

/** The check list of an import. */
export const ImportCheck = z
  .object({
    name: z.string().meta({ example: "Daily digest" }),
    description: z.string(),
    node_count: z.number().int(),
    trigger: z.string().meta({ description: "Kind of the trigger node", example: "manual" }),
    agents: z.array(
      z.object({
        key: z.string(),
        name: z.string(),
        model: z.string().meta({ description: "Empty when any will do" }),
        provider: z.string().nullable(),
        needs_tools: z.boolean().meta({ description: "Whether its model must know how to call tools" }),
        is_defined: z.boolean().meta({ description: "Whether the file brings it along, so that it can be made" }),
        existing: Existing,
        nodes: z.array(z.string()).meta({ description: "Labels of the nodes that ask it", example: ["Draft"] }),
      }),
    ),
    mcp_servers: z.array(needed),
    rag_sources: z.array(needed),
    skills: z.array(z.object({ name: z.string(), exists: z.boolean().meta({ description: "false: the import makes it" }) })),
    workflows: z
      .array(z.object({ name: z.string(), exists: z.boolean().meta({ description: "false: the import makes it" }) }))
      .meta({ description: "Workflows that its nodes run" }),
    credentials: z
      .array(z.object({ name: z.string(), exists: z.boolean() }))
      .meta({ description: "Names that expressions read", example: [{ name: "CRM_TOKEN", exists: false }] }),
    masked: masked.meta({ description: "Values that the export took out; they are to be written anew, or read from a credential" }),
    is_complete: z.boolean().meta({ description: "Whether everything that the file names is here" }),
    import_report: importReport,
  })
  .meta({ id: "WorkflowImportCheck" });
export type ImportCheck = z.infer<typeof ImportCheck>;

/** A workflow of the gallery. */
export const WorkflowTemplate = z
  .object({
    id: z.string().meta({ description: "Stable name", example: "approval-desk" }),
    summary: z.string().meta({ description: "What it does, in one sentence" }),
    needs_model: z.boolean().meta({ description: "false: it runs without any LLM key" }),
    file: WorkflowFile,
  })
  .meta({ id: "WorkflowTemplate" });
export type WorkflowTemplate = z.infer<typeof WorkflowTemplate>;
export const WorkflowTemplates = z.object({ items: z.array(WorkflowTemplate) });
