import { z } from "zod";
import { CreateAgentInput, callFields, UpdateAgentInput } from "#server/features/agents/schema.ts";
import { api } from "#server/features/assistant/api.ts";
import { type AssistantTool, type ConfirmationCard, defineTool, type ToolContext } from "#server/features/assistant/define-tool.ts";
import { searchGuide } from "#server/features/assistant/guide.ts";
import { propose } from "#server/features/assistant/proposals.ts";
import {
  ApprovedTexts,
  cut,
  fitting,
  MAX_RESULT,
  MAX_WHOLE,
  quote,
  shownCanvas,
  shownGraph,
  shownNodes,
} from "#server/features/assistant/shown.ts";
import { CanvasDataInput } from "#server/features/canvases/schema.ts";
import { CreateWorkflowInput, WorkflowRef } from "#server/features/workflows/schema.ts";
import { type ProviderId, providerKind } from "#server/llm/kinds.ts";
import { assertRole } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { Id } from "#server/shared/primitives-schema.ts";
import { countDiff, diffGraphs } from "#server/workflow/diff.ts";
import { MOST_OPERATIONS, Operation } from "#server/workflow/operations.ts";

// Tools that read and build: workflows, agents, what the project has, its dashboards, the guide.

const Page = z.number().int().min(1).max(1000).default(1).meta({ description: "From 1" });
const PER_PAGE = 30;
/** Of a description in a list. */
const SHORT = 160;

const plural = (count: number, one: string) => `${count} ${one}${count === 1 ? "" : "s"}`;

const listWorkflows = defineTool({
  name: "list_workflows",
  description: "Lists the project's workflows, newest first: id, name, trigger, whether it is enabled, version.",
  input: z.strictObject({ page: Page }),
  isReading: true,
  async call({ page }, { principal }) {
    const { items, total } = await api(principal).workflows.list({ page, per_page: PER_PAGE });
    const workflows = items.map(({ id, name, description, enabled, version, trigger }) => ({
      ...{ workflow_id: id, name, description: cut(description, SHORT) || undefined, enabled, version, trigger },
    }));
    return { ok: true, summary: plural(total, "workflow"), result: fitting(MAX_RESULT, () => ({ total, page, workflows })) };
  },
});

const getWorkflow = defineTool({
  name: "get_workflow",
  description:
    "Reads a workflow: the graph of its draft (nodes with their fields, connections as source.handle -> target), the problems that would stop a run, and whether the draft is ahead of the saved version, which is what the API, schedules and webhooks run.",
  input: WorkflowRef.extend({
    node_ids: z
      .array(z.string().min(1).max(100))
      .min(1)
      .max(50)
      .optional()
      .meta({ description: "Only these nodes, with all of their fields" }),
  }),
  isReading: true,
  async call({ workflow_id, node_ids }, { principal }) {
    const { workflow, draft, is_draft_ahead } = await api(principal).workflows.editor({ workflow_id });
    const { name, description, enabled, version } = workflow;
    const beside = { workflow_id, name, description: description || undefined, enabled, saved_version: version, is_draft_ahead };
    const result = node_ids
      ? shownNodes(draft, node_ids, { workflow_id, name }, MAX_WHOLE)
      : shownGraph(draft, { ...beside, problems: draft.problems });
    return { ok: true, summary: `Read “${name}”`, result, refs: { workflow_id } };
  },
});

/** How many workflows and agents are made in a thread before one more is asked for. */
const MOST_MADE = 10;
const MAKING = ["create_workflow", "create_agent"];

/** Asked before something is made in a thread that has made much: a model may have been told by what it reads to go on for ever. */
async function manyMade(what: string, name: string, { principal, thread_id }: ToolContext): Promise<ConfirmationCard | null> {
  assertRole(principal, "editor");
  const named = MAKING.map((tool) => ({ data: { path: ["name"], equals: tool } }));
  const where = { thread_id, type: "tool_result", data: { path: ["ok"], equals: true }, OR: named };
  const made = await db().assistantEvent.count({ where });
  if (made < MOST_MADE) return null;
  const action = `Create the ${what} ${quote(name, SHORT)}`;
  return { action, summary: `The assistant has made ${made} workflows and agents in this thread.`, about: action };
}

const createWorkflow = defineTool({
  name: "create_workflow",
  description:
    "Creates a workflow that has only a manual trigger (node id “trigger”, label “Start”). Build it then by propose_changes: connect from that trigger, or change its kind by update_node.",
  input: CreateWorkflowInput.pick({ name: true, description: true }),
  confirmation: ({ name }, context) => manyMade("workflow", name, context),
  async call(args, { principal }) {
    const { id, name, nodes } = await api(principal).workflows.create(args);
    const result = JSON.stringify({
      workflow_id: id,
      name,
      nodes: nodes.map((node) => ({ id: node.id, type: node.type, data: node.data })),
    });
    return { ok: true, summary: `Created “${name}”`, result, refs: { workflow_id: id } };
  },
});

const proposeChanges = defineTool({
  name: "propose_changes",
  description:
    "Proposes a change of a workflow's draft. It is checked at once; what is wrong comes back, and nothing is proposed until all of it is right. Nothing changes before the person accepts it on the canvas, where they may leave parts out. A newer proposal takes the place of an open one, so send the whole change each time. Leave positions out: nodes are laid out by themselves.",
  input: z.strictObject({
    workflow_id: Id,
    summary: z.string().trim().min(1).max(500).meta({ description: "What it changes and why, in one or two sentences for the person" }),
    operations: z.array(Operation).min(1).max(MOST_OPERATIONS).meta({
      description:
        "Done one after the other: nodes first, then what connects them. source_handle is needed where a node has several ways out",
    }),
  }),
  async call({ workflow_id, summary, operations }, { principal, thread_id, message_id }) {
    const proposal = await propose(principal, { thread_id, message_id }, { workflow_id, summary, operations });
    const { id, problems, base, graph } = proposal;
    const changes = countDiff(diffGraphs(base, graph));
    const next = "It is shown to the person, who accepts or rejects it. Say what it does; do not say that it is done.";
    return {
      ok: true,
      summary: `Proposed: ${summary}`,
      result: fitting(MAX_RESULT, () => ({ proposal_id: id, status: "open", changes, problems_of_the_result: problems, next })),
      refs: { workflow_id, proposal_id: id },
    };
  },
});

const listAgents = defineTool({
  name: "list_agents",
  description: "Lists the project's agents, newest first: id, name, model, and what they can use.",
  input: z.strictObject({ page: Page }),
  isReading: true,
  async call({ page }, { principal }) {
    const { items, total } = await api(principal).agents.list({ page, per_page: PER_PAGE });
    const agents = items.map(({ id, name, description, model, tools, mcp_server_ids, rag_ids }) => ({
      ...{ agent_id: id, name, description: cut(description, SHORT) || undefined, model, tools },
      ...{ mcp_servers: mcp_server_ids.length || undefined, knowledge: rag_ids.length || undefined },
    }));
    return { ok: true, summary: plural(total, "agent"), result: fitting(MAX_RESULT, () => ({ total, page, agents })) };
  },
});

const getAgent = defineTool({
  name: "get_agent",
  description: "Reads an agent: its instructions, model, tools and knowledge.",
  input: z.strictObject({ agent_id: Id }),
  isReading: true,
  async call({ agent_id }, { principal }) {
    const { id: _, created_at: __, ...agent } = await api(principal).agents.get({ agent_id });
    const result = fitting(
      MAX_RESULT,
      ...[6000, 2000].map((most) => () => ({ agent_id, ...agent, system_prompt: cut(agent.system_prompt, most) })),
    );
    return { ok: true, summary: `Read the agent “${agent.name}”`, result, refs: { agent_id } };
  },
});

/** What of an agent is written, without what a client may send back and is ignored. */
const agentFields = { name: true, description: true, ...callFields, output_schema: true } as const;

const createAgent = defineTool({
  name: "create_agent",
  description:
    "Creates an agent, which agentNodes name by its id. It makes one short call of the model, and saves nothing when that fails. Keys and their models come from list_resources.",
  input: CreateAgentInput.pick(agentFields),
  confirmation: ({ name }, context) => manyMade("agent", name, context),
  async call(args, { principal }) {
    const { id, name, model } = await api(principal).agents.create(args);
    const result = JSON.stringify({ agent_id: id, name, model });
    return { ok: true, summary: `Created the agent “${name}”`, result, refs: { agent_id: id } };
  },
});

/** What the keys, servers, sources and skills are called that an agent names by their ids: nobody can approve an id. */
async function namesOfResources(
  project_id: string,
  agents: { [Field in "llm_key_id" | "mcp_server_ids" | "rag_ids" | "skill_ids"]?: string | string[] | undefined }[],
): Promise<Map<string, string>> {
  const ids = agents
    .flatMap((agent) => [agent.llm_key_id, agent.mcp_server_ids, agent.rag_ids, agent.skill_ids].flat())
    .filter((id): id is string => id !== undefined && isUuid(id));
  const named = { where: { project_id, id: { in: ids } }, select: { id: true, name: true } } as const;
  const found = [db().llmKey.findMany(named), db().mcpServer.findMany(named), db().ragSource.findMany(named), db().skill.findMany(named)];
  return new Map((await Promise.all(found)).flat().map(({ id, name }) => [id, name]));
}

/** Names that a card lists of workflows. */
const MOST_NAMED = 5;

const updateAgent = defineTool({
  name: "update_agent",
  description: "Changes an agent for every workflow that uses it, at once. The person is asked first. Fields left out keep their value.",
  input: UpdateAgentInput.pick({ agent_id: true, ...agentFields }),
  async confirmation({ agent_id, ...fields }, { principal }) {
    assertRole(principal, "editor");
    const agent = await api(principal).agents.get({ agent_id });
    const uses = await db().workflow.findMany({
      where: { project_id: principal.project.id, deleted_at: null, agent_uses: { some: { agent_id } } },
      select: { name: true },
      orderBy: { id: "desc" },
    });
    const called = await namesOfResources(principal.project.id, [agent, fields]);
    const texts = new ApprovedTexts();
    const said = (value: unknown, shown: (text: string) => string): string => {
      if (typeof value === "string") return shown(called.get(value) ?? value);
      if (Array.isArray(value) && value.length > 0) return value.map((one) => said(one, (text) => quote(text, SHORT))).join(", ");
      const text = JSON.stringify(value ?? null);
      return typeof value !== "object" || text === "[]" ? text : shown(text);
    };
    const changes = Object.entries(fields).map(([field, value]) => {
      const before = said(agent[field as keyof typeof agent], (text) => quote(text, SHORT));
      return `${field}: ${before} → ${said(value, (text) => texts.quote(`the new ${field}`, text))}`;
    });
    const names = uses.slice(0, MOST_NAMED).map(({ name }) => quote(name, SHORT));
    const more = uses.length > names.length ? ` and ${uses.length - names.length} more` : "";
    const where = uses.length
      ? `${uses.length === 1 ? "The workflow" : "The workflows"} ${names.join(", ")}${more} will run with it.`
      : "No workflow uses it.";
    const summary = `${changes.join("\n") || "Nothing."}\n${where}`;
    return { action: `Change the agent ${quote(agent.name, SHORT)}`, summary, details: texts.details, about: JSON.stringify(agent) };
  },
  async call(args, { principal }) {
    const { id, name, model } = await api(principal).agents.update(args);
    const result = JSON.stringify({ agent_id: id, name, model, saved: true });
    return { ok: true, summary: `Changed the agent “${name}”`, result, refs: { agent_id: id } };
  },
});

const RESOURCES = ["llm_keys", "knowledge", "mcp_servers", "skills", "credentials", "canvases"] as const;

const listResources = defineTool({
  name: "list_resources",
  description:
    "Lists what the project has of one kind, by name and id: llm_keys (with usual models of each), knowledge (RAG sources), mcp_servers, skills, credentials, canvases (dashboards). Secrets are never shown: expressions read a credential as {{credentials.NAME}}.",
  input: z.strictObject({ kind: z.enum(RESOURCES), page: Page }),
  isReading: true,
  async call({ kind, page }, { principal }) {
    const calls = api(principal);
    const input = { page, per_page: PER_PAGE };
    const lists: Record<(typeof RESOURCES)[number], () => Promise<{ total: number; items: object[] }>> = {
      async llm_keys() {
        const { items, total } = await calls.llmKeys.list(input);
        const kindOf = (provider: string) => providerKind(provider as ProviderId); // cast: only rows of the provider table are ever stored
        return {
          total,
          items: items.map(({ id, name, provider }) => ({
            ...{
              llm_key_id: id,
              name,
              provider,
              usual_models: kindOf(provider).curatedModels,
              can_call_tools: kindOf(provider).supportsTools,
            },
          })),
        };
      },
      async knowledge() {
        const { items, total } = await calls.rags.list(input);
        return { total, items: items.map(({ id, name, type }) => ({ rag_id: id, name, type })) };
      },
      async mcp_servers() {
        const { items, total } = await calls.mcp.list(input);
        return { total, items: items.map(({ id, name }) => ({ mcp_server_id: id, name })) };
      },
      async skills() {
        const { items, total } = await calls.skills.list(input);
        return { total, items: items.map(({ id, name, description }) => ({ skill_id: id, name, description: cut(description, SHORT) })) };
      },
      async credentials() {
        const { items, total } = await calls.credentials.list(input);
        return { total, items: items.map(({ name }) => ({ name })) };
      },
      async canvases() {
        const { items, total } = await calls.canvases.list(input);
        return { total, items: items.map(({ id, name }) => ({ canvas_id: id, name })) };
      },
    };
    const { total, items } = await lists[kind]();
    const what = kind.replace("_", " ").replace("llm", "LLM").replace("mcp", "MCP");
    return { ok: true, summary: `${total} ${what}`, result: fitting(MAX_RESULT, () => ({ kind, total, page, items })) };
  },
});

const getCanvas = defineTool({
  name: "get_canvas",
  description:
    "Reads a canvas, which is a dashboard: for each widget the workflow and Output that it reads, and what it shows now, with the execution that this comes from. Of long series and tables the beginning or end is shown: name a widget for all of it.",
  input: CanvasDataInput.extend({ widget_id: z.string().min(1).max(64).optional().meta({ description: "Only this widget" }) }),
  isReading: true,
  async call({ widget_id, ...which }, { principal }) {
    const { canvas_id } = which;
    const [canvas, data] = await Promise.all([api(principal).canvases.get({ canvas_id }), api(principal).canvases.data(which)]);
    const widgets = canvas.widgets.filter(({ id }) => id === (widget_id ?? id));
    const result = shownCanvas({ ...canvas, widgets }, data, widget_id === undefined ? MAX_RESULT : MAX_WHOLE);
    return { ok: true, summary: `Read the canvas “${canvas.name}”`, result, refs: { canvas_id } };
  },
});

const searchGuideTool = defineTool({
  name: "search_guide",
  description:
    "Searches the guide of this product and gives the best sections with their addresses. The guide is in English, so give English words whatever the person writes in. Answer from it, and name the page.",
  input: z.strictObject({ query: z.string().trim().min(1).max(300).meta({ description: "A few words, e.g. webhook signature" }) }),
  isReading: true,
  async call({ query }) {
    const found = searchGuide(query);
    const [first] = found;
    if (!first) return { ok: true, summary: "Nothing in the guide", result: "The guide says nothing about this. Say so; do not guess." };
    return { ok: true, summary: `Guide: ${first.title}`, result: fitting(MAX_RESULT, () => found), refs: { page: first.path } };
  },
});

export const buildTools: readonly AssistantTool[] = [
  ...[listWorkflows, getWorkflow, createWorkflow, proposeChanges, listAgents, getAgent, createAgent, updateAgent],
  ...[listResources, getCanvas, searchGuideTool],
];
