import { z } from "zod";
import { api } from "#server/features/assistant/api.ts";
import {
  type AssistantTool,
  type ConfirmationCard,
  defineTool,
  type ToolContext,
  type ToolOutcome,
} from "#server/features/assistant/define-tool.ts";
import { findProposal } from "#server/features/assistant/proposals.ts";
import { ApprovedTexts, cut, fitting, MAX_RESULT, MAX_WHOLE, quote, shownLog, shownRun } from "#server/features/assistant/shown.ts";
import { startedRuns } from "#server/features/assistant/started-runs.ts";
import { choiceMeant } from "#server/features/reviews/rights.ts";
import { ApproveInput } from "#server/features/reviews/schema.ts";
import { findWorkflow } from "#server/features/workflows/rows.ts";
import { runDraft } from "#server/features/workflows/run-draft.ts";
import { graphHash } from "#server/features/workflows/snapshots.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import { assertRole, type ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, invalidField } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { ExecutionLogsInput, ExecutionRef, iterationPath, type RunDraftInput, runValues } from "#server/runs/schema.ts";
import { ExecutionStatus } from "#server/runs/status-schema.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { followExecution } from "#server/runs/use-cases/follow-execution.ts";
import { isFinal } from "#server/shared/execution-status.ts";
import { Id } from "#server/shared/primitives-schema.ts";
import { credentialsIn } from "#server/workflow/compiled-graph.ts";
import { choiceName } from "#server/workflow/nodes/review-choices.ts";
import { DEFAULT_CHOICES } from "#server/workflow/nodes/review-terms.ts";
import { withPins } from "#server/workflow/pins.ts";
import { nodesReachingOut } from "#server/workflow/reach.ts";
import { Graph } from "#server/workflow/schema.ts";

// Tools that run workflows and look at runs.

/** Runs that a thread may start before each further one is asked for. */
const MOST_RUNS = 20;
/** How long a call waits for the end of a run that it has started, in milliseconds. */
const WAIT_MS = 60_000;
const HEARTBEAT_MS = 10_000;
const SHORT = 300;

/** What is to be run: the graph, whose it is, and what to call it in words. */
interface Target {
  workflow_id: string;
  name: string;
  graph: Graph;
  what: string;
  /** True for a run of a saved version, whose failure starts the error workflow. */
  isVersion: boolean;
}

/** A graph in the draft's place: that of a proposal. @throws AppError NOT_FOUND; CONFLICT for one that is over; VALIDATION_ERROR for another workflow's */
async function proposed(principal: ProjectPrincipal, workflow_id: string, proposal_id: string): Promise<Graph> {
  const proposal = await findProposal(principal, proposal_id);
  if (proposal.status === "accepted" || proposal.status === "rejected")
    throw new AppError("CONFLICT", `That proposal was ${proposal.status}. Run the draft as it is now (draft: true), or propose again.`);
  if (proposal.workflow_id === workflow_id) return Graph.parse(proposal.graph);
  const message = "That proposal is for another workflow.";
  throw invalidField("proposal_id", message, `proposal_id: ${message}`);
}

interface Which {
  workflow_id: string;
  draft?: boolean | undefined;
  proposal_id?: string | undefined;
}

/** @throws AppError NOT_FOUND; VALIDATION_ERROR */
async function targetOf(principal: ProjectPrincipal, { workflow_id, draft, proposal_id }: Which): Promise<Target> {
  const { workflow, draft: current } = await api(principal).workflows.editor({ workflow_id });
  const { name, version } = workflow;
  if (proposal_id !== undefined)
    return {
      workflow_id,
      name,
      graph: withPins(await proposed(principal, workflow_id, proposal_id)),
      what: "the proposed draft",
      isVersion: false,
    };
  if (draft)
    return { workflow_id, name, graph: withPins({ nodes: current.nodes, edges: current.edges }), what: "the draft", isVersion: false };
  return { workflow_id, name, graph: { nodes: workflow.nodes, edges: workflow.edges }, what: `version ${version}`, isVersion: true };
}

/** Those of a project's agents that have tools, MCP servers, or knowledge that lies elsewhere: by id, when each was last changed. */
async function agentsReachingOut(project_id: string, graph: Graph): Promise<Map<string, Date>> {
  const ids = graph.nodes.map(({ data }) => data.agent_id).filter((id): id is string => typeof id === "string" && isUuid(id));
  const rows = await db().agent.findMany({
    where: {
      project_id,
      id: { in: [...new Set(ids)] },
      OR: [
        { NOT: { tools: { isEmpty: true } } },
        { mcp_servers: { some: {} } },
        { rag_sources: { some: { rag_source: { type: { not: "documents" } } } } },
      ],
    },
    select: { id: true, updated_at: true },
    orderBy: { id: "asc" },
  });
  return new Map(rows.map(({ id, updated_at }) => [id, updated_at]));
}

/** Effects that a run of a graph may have outside this service. */
interface Reach {
  /** Nodes that reach outside. */
  labels: string[];
  /** Names of the credentials that it uses. */
  secrets: string[];
  /** The graph and the agents that this was read from: the approval is for these only. */
  about: unknown[];
}

async function reachOf(project_id: string, graph: Graph): Promise<Reach> {
  const agents = await agentsReachingOut(project_id, graph);
  return {
    labels: nodesReachingOut(graph, (id) => agents.has(id)),
    secrets: [...credentialsIn(graph)],
    about: [await graphHash(graph), ...agents],
  };
}

/** Returns the workflow that a failed run of a saved version starts: the workflow's own, or the project's. */
async function errorWorkflowOf(project_id: string, workflow_id: string): Promise<{ name: string; graph: Graph } | null> {
  const { error_workflow_id, project } = await db().workflow.findFirstOrThrow({
    where: { id: workflow_id, project_id },
    select: { error_workflow_id: true, project: { select: { error_workflow_id: true } } },
  });
  const id = error_workflow_id ?? project.error_workflow_id;
  if (id === null) return null;
  const row = await db().workflow.findFirst({ where: { id, project_id, deleted_at: null }, select: { name: true, snapshot_id: true } });
  return row && { name: row.name, graph: await snapshotGraph(row.snapshot_id) };
}

const listed = (labels: readonly string[]): string => labels.map((label) => quote(label, SHORT)).join(", ");

/** What earlier runs of a workflow have cost, in words; empty when that is not known. */
async function usualCost(principal: ProjectPrincipal, workflow_id: string): Promise<string> {
  const { items } = await api(principal).executions.list({ workflow_id, status: "completed", page: 1, per_page: 10 });
  const costs = items.flatMap(({ cost }) => (cost === null ? [] : [cost]));
  if (costs.length === 0) return "What it costs is not known: no earlier run tells.";
  const mean = costs.reduce((sum, cost) => sum + cost, 0) / costs.length;
  return `Its last ${costs.length === 1 ? "run" : `${costs.length} runs`} cost about ${mean.toFixed(4)} US dollars each.`;
}

/** How often one failed run is repeated about one message: a repair, and two more when that fails. */
const MOST_REPEATS = 3;

/**
 * What repeats a repetition belongs to the same failed run.
 * @throws AppError CONFLICT for one that was repeated as often as may be
 */
async function assertMayRepeat(place: ToolContext, execution_id: string): Promise<void> {
  const repeats = (await startedRuns(place)).filter(({ rerun_of }) => rerun_of !== null);
  const family = new Set([execution_id]);
  for (const { execution_id: id, rerun_of } of repeats.toReversed()) if (family.has(id)) family.add(rerun_of ?? id);
  for (const { execution_id: id, rerun_of } of repeats) if (family.has(rerun_of ?? id)) family.add(id);
  const count = repeats.filter(({ execution_id: id }) => family.has(id)).length;
  if (count >= MOST_REPEATS)
    throw new AppError(
      "CONFLICT",
      `This run has been repeated ${count} times about this message, which is the most. Tell the person what you tried and what you would look at next; they may ask you to go on.`,
    );
}

/**
 * Returns the card before a run that reaches outside or uses credentials, itself or by its error workflow, or exceeds the runs of a
 * thread; null when no approval is needed.
 */
async function runCard(
  { principal, thread_id }: ToolContext,
  { workflow_id, name, graph, what, isVersion }: Target,
  { action, given }: { action: string; given: (texts: ApprovedTexts) => string },
): Promise<ConfirmationCard | null> {
  const project_id = principal.project.id;
  const [own, errors, thread] = await Promise.all([
    reachOf(project_id, graph),
    isVersion ? errorWorkflowOf(project_id, workflow_id) : null,
    db().assistantThread.findUniqueOrThrow({ where: { id: thread_id }, select: { runs: true } }),
  ]);
  const onFailure = errors && (await reachOf(project_id, errors.graph));
  const isMany = thread.runs >= MOST_RUNS;
  const isHarmless = ({ labels, secrets }: Reach) => labels.length === 0 && secrets.length === 0;
  if (isHarmless(own) && (!onFailure || isHarmless(onFailure)) && !isMany) return null;

  const texts = new ApprovedTexts();
  const reach = own.labels.length ? `It reaches outside by ${listed(own.labels)}.` : "";
  const used = own.secrets.length ? `It uses the credentials ${own.secrets.join(", ")}.` : "";
  const failing = errors && onFailure && !isHarmless(onFailure) ? failureSentence(errors.name, onFailure) : "";
  const many = isMany ? `The assistant has started ${thread.runs} runs in this thread.` : "";
  const cost = await usualCost(principal, workflow_id);
  const summary = [`${what[0]?.toUpperCase()}${what.slice(1)}${given(texts)}.`, reach, used, failing, many, cost];
  const about = JSON.stringify([...own.about, ...(onFailure ? [onFailure.about] : [])]);
  return { action: `${action} ${quote(name, SHORT)}`, summary: summary.filter(Boolean).join("\n"), details: texts.details, about };
}

function failureSentence(name: string, { labels, secrets }: Reach): string {
  const does = [
    ...(labels.length ? [`reaches outside by ${listed(labels)}`] : []),
    ...(secrets.length ? [`uses the credentials ${secrets.join(", ")}`] : []),
  ];
  return `If it fails, its error workflow ${quote(name, SHORT)} runs, which ${does.join(" and ")}.`;
}

/** What a run is given, in words. */
function givenWords(
  { input, params }: { input?: string | undefined; params?: Record<string, unknown> | undefined },
  texts: ApprovedTexts,
): string {
  if (params && Object.keys(params).length) return `, with ${texts.quote("the parameters", JSON.stringify(params))}`;
  return input ? `, with the input ${texts.quote("the input", input)}` : "";
}

/** Counts a run that a thread starts, for which somebody has approved where that was needed, and starts it. */
async function counted({ thread_id }: ToolContext, start: () => Promise<{ execution_id: string }>): Promise<string> {
  await db().assistantThread.update({ where: { id: thread_id }, data: { runs: { increment: 1 } } });
  return (await start()).execution_id;
}

/** Runs that people start are their own record; what the assistant does is in the audit log, too. */
async function recorded(principal: ProjectPrincipal, workflow_id: string, start: Promise<{ execution_id: string }>) {
  const { execution_id } = await start;
  const { name } = await findWorkflow(principal, workflow_id, { name: true });
  const resource = { resource_type: "execution", resource_id: execution_id, resource_name: name } as const;
  await recordAudit(db(), principal, { action: "execution.start", ...resource, detail: { workflow_id } });
  return { execution_id };
}

/** Waits for the end of a run, or for its first review; no longer than `WAIT_MS`. The run goes on whatever becomes of the wait. */
async function waited({ principal, signal }: ToolContext, execution_id: string): Promise<void> {
  const enough = AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]);
  const events = await followExecution({ project_id: principal.project.id, execution_id }, 0, enough, HEARTBEAT_MS);
  for await (const event of events) if (event !== "idle" && event.type === "execution_paused") break;
  signal.throwIfAborted();
}

/** How a run stands that was started: its end when it has one. */
async function runOutcome(
  context: ToolContext,
  execution_id: string,
  more: { rerun_of?: string; node_id?: string } = {},
): Promise<ToolOutcome> {
  await waited(context, execution_id);
  const { execution, graph } = await api(context.principal).executions.view({ execution_id });
  const { status, workflow_name, workflow_id, error } = execution;
  const note = status === "paused" ? "It waits for a review." : "It is still running: ask get_run for it later.";
  return {
    ok: status !== "failed",
    summary: `“${workflow_name}” ${isFinal(status) ? status : status === "paused" ? "waits for a review" : "is still running"}${error ? `: ${cut(error, SHORT)}` : ""}`,
    result: shownRun(execution, graph, isFinal(status) ? {} : { note }),
    refs: { workflow_id, execution_id, ...more },
  };
}

const Which = {
  draft: z.boolean().optional().meta({ description: "true: the draft as it is now; left out, the saved version" }),
  proposal_id: Id.optional().meta({ description: "Runs the graph of this proposal as a draft, before anybody has accepted it" }),
};

const runWorkflow = defineTool({
  name: "run_workflow",
  description:
    "Runs a workflow and waits up to a minute for its end: the saved version, the draft, or a proposal that is not accepted yet. Without input or params the trigger's defaults are used. The person is asked first when it reaches outside.",
  input: z.strictObject({ workflow_id: Id, ...runValues, ...Which }),
  async confirmation(args, context) {
    assertRole(context.principal, "editor");
    return runCard(context, await targetOf(context.principal, args), { action: "Run", given: (texts) => givenWords(args, texts) });
  },
  async call({ draft, proposal_id, ...values }, context) {
    const { principal } = context;
    assertRole(principal, "editor");
    const { workflow_id } = values;
    const start = async () => {
      if (proposal_id !== undefined) return runDraft(principal, values, await proposed(principal, workflow_id, proposal_id));
      return draft ? api(principal).workflows.executeDraft(values) : api(principal).workflows.execute(values);
    };
    return runOutcome(context, await counted(context, () => recorded(principal, workflow_id, start())));
  },
});

const rerunFromNode = defineTool({
  name: "rerun_from_node",
  description:
    "Repeats a run from one node on: it and what depends on it run again on the recorded inputs, results of everything else are taken over. Without proposal_id or draft it runs the graph that the run had; with one of them a changed graph, which proves a repair.",
  input: z.strictObject({
    execution_id: Id,
    node_id: z.string().min(1).max(100).meta({ description: "Of the failed node, or of the first one that is changed" }),
    ...Which,
    draft: z.boolean().optional().meta({ description: "true: runs the workflow's draft as it is now" }),
  }),
  async confirmation(args, context) {
    const { principal } = context;
    assertRole(principal, "editor");
    await assertMayRepeat(context, args.execution_id);
    const { execution, graph } = await api(principal).executions.view({ execution_id: args.execution_id });
    const { workflow_id, workflow_name, version } = execution;
    const isOwn = !args.draft && args.proposal_id === undefined;
    const target = isOwn
      ? {
          workflow_id,
          name: workflow_name,
          graph: version === null ? withPins(graph) : graph,
          what: "the graph that it had",
          isVersion: version !== null,
        }
      : await targetOf(principal, { workflow_id, ...args });
    return runCard(context, target, { action: "Repeat a run of", given: () => `, from ${quote(args.node_id, SHORT)} on` });
  },
  async call({ execution_id, node_id, draft, proposal_id }, context) {
    const { principal } = context;
    assertRole(principal, "editor");
    await assertMayRepeat(context, execution_id);
    const start = async (): Promise<{ execution_id: string }> => {
      if (!draft && proposal_id === undefined) return api(principal).executions.rerun({ execution_id, from_node_id: node_id });
      const { workflow_id } = await api(principal).executions.get({ execution_id });
      const values: RunDraftInput = { workflow_id, from: { execution_id, node_id } };
      if (proposal_id === undefined) return recorded(principal, workflow_id, api(principal).workflows.executeDraft(values));
      const graph = await proposed(principal, workflow_id, proposal_id);
      return recorded(principal, workflow_id, runDraft(principal, values, graph));
    };
    return runOutcome(context, await counted(context, start), { rerun_of: execution_id, node_id });
  },
});

const getRun = defineTool({
  name: "get_run",
  description: "Reads a run: its status, error, output and cost, and how each node ended, those that failed first.",
  input: ExecutionRef,
  isReading: true,
  async call({ execution_id }, { principal }) {
    const { execution, graph } = await api(principal).executions.view({ execution_id });
    const { workflow_id, workflow_name, status } = execution;
    const summary = `Run of “${workflow_name}”: ${status}`;
    return { ok: true, summary, result: shownRun(execution, graph), refs: { workflow_id, execution_id } };
  },
});

const listRuns = defineTool({
  name: "list_runs",
  description: "Lists runs, newest first; of one workflow, or with one status, where that is given.",
  input: z.strictObject({
    workflow_id: Id.optional(),
    status: ExecutionStatus.optional(),
    page: z.number().int().min(1).max(1000).default(1).meta({ description: "From 1" }),
  }),
  isReading: true,
  async call(args, { principal }) {
    const { items, total } = await api(principal).executions.list({ ...args, per_page: 20 });
    const shown = (most: number) => () => ({
      total,
      page: args.page,
      runs: items.map(({ id, workflow_id, workflow_name, version, status, trigger, error, output, cost, created_at, duration_ms }) => ({
        ...{ execution_id: id, workflow_id, workflow_name, version: version ?? "draft", status, trigger, created_at, duration_ms },
        ...{
          error: error === null ? undefined : cut(error, most),
          output: output === null ? undefined : cut(output, most),
          cost_usd: cost ?? undefined,
        },
      })),
    });
    const refs = args.workflow_id !== undefined ? { refs: { workflow_id: args.workflow_id } } : {};
    return { ok: true, summary: `${total} ${total === 1 ? "run" : "runs"}`, result: fitting(MAX_RESULT, shown(SHORT), shown(60)), ...refs };
  },
});

const getRunLog = defineTool({
  name: "get_run_log",
  description:
    "Reads what each node of a run was given and left behind, with errors and the tools that agents called; what failed comes first. Long texts are cut: name a node to read all of it.",
  input: ExecutionLogsInput,
  isReading: true,
  async call(args, { principal }) {
    const { execution_id, node_id } = args;
    const { items } = await api(principal).executions.logs(args);
    const most = node_id === undefined ? MAX_RESULT : MAX_WHOLE;
    const refs = { execution_id, ...(node_id !== undefined && { node_id }) };
    return { ok: true, summary: `Read the log of ${items.length} node runs`, result: shownLog(items, { execution_id }, most), refs };
  },
});

const decideReview = defineTool({
  name: "decide_review",
  description: "Approves or rejects a review that a run waits for. The person is always asked first.",
  input: ApproveInput,
  async confirmation({ execution_id, node_id, iteration, comment, text, ...answer }, { principal }) {
    assertRole(principal, "approver");
    const { items } = await api(principal).reviews.list({ execution_id, status: "waiting", page: 1, per_page: 50 });
    const meant = items.filter(
      (one) =>
        (node_id ?? one.node_id) === one.node_id && (iteration === undefined || (iterationPath(iteration) || null) === one.iteration),
    );
    const [review, ...others] = meant;
    // Which one is not clear, or none: the call says so, and asks nobody for nothing.
    if (!review || others.length > 0) await api(principal).executions.get({ execution_id });
    if (!review) throw new AppError("CONFLICT", "No such review waits in this execution.");
    if (others.length > 0)
      throw new AppError(
        "BAD_REQUEST",
        `${meant.length} reviews wait. Say which by node_id: ${meant.map((one) => one.node_id).join(", ")}.`,
      );
    const texts = new ApprovedTexts();
    const { title, display_value } = await api(principal).reviews.get({ review_id: review.id });
    const choice = choiceMeant(review, answer);
    const isEnd = review.choices.some(({ id, ends_run }) => id === choice.id && ends_run);
    const summary = [
      `In a run of ${quote(review.workflow_name, SHORT)}.${isEnd ? " It ends the run as rejected." : ""}`,
      title && texts.quote("the title", title),
      display_value && `What is reviewed: ${texts.quote("what is reviewed", display_value)}`,
      text === undefined ? "" : `The text that flows on becomes ${texts.quote("the text", text)}`,
      comment ? `With the comment ${texts.quote("the comment", comment)}.` : "",
    ];
    const usual = DEFAULT_CHOICES.some(({ id, label }) => id === choice.id && label === choice.label);
    return {
      action: usual
        ? `${choice.label} the review ${quote(review.label, SHORT)}`
        : `Choose ${quote(choiceName(choice), SHORT)} at the review ${quote(review.label, SHORT)}`,
      summary: summary.filter(Boolean).join("\n"),
      details: texts.details,
      about: review.id,
    };
  },
  async call(args, { principal }) {
    const { status, workflow_id } = await api(principal).executions.approve(args);
    const { execution_id, decision, choice } = args;
    const result = JSON.stringify({ execution_id, decision, choice, run_status: status });
    return { ok: true, summary: `The review was answered: ${choice ?? decision}`, result, refs: { workflow_id, execution_id } };
  },
});

export const runTools: readonly AssistantTool[] = [runWorkflow, getRun, listRuns, getRunLog, rerunFromNode, decideReview];
