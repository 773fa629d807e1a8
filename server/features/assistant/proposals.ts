import { v7 as uuid } from "uuid";
import type { AssistantProposal } from "#prisma/generated/client.ts";
import { tellThread } from "#server/features/assistant/events.ts";
import { holdThread, type Tx } from "#server/features/assistant/messages.ts";
import { type AcceptedProposal, type AcceptProposalInput, type Proposal, ProposalProblem } from "#server/features/assistant/schema.ts";
import { lockAgentNames, withCurrentNames } from "#server/features/workflows/agent-names.ts";
import { settledGraph, triggerFaults } from "#server/features/workflows/checks.ts";
import { draftDto, draftProblems, findWorkflow } from "#server/features/workflows/rows.ts";
import { noteGraph, recordAgentUses } from "#server/features/workflows/snapshots.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import { assertRole, type ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { jsonColumn } from "#server/platform/db/json-column.ts";
import { AppError, invalidField, notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { settings } from "#server/platform/settings.ts";
import { assertRoom } from "#server/runs/store/limits.ts";
import { applyOperations } from "#server/workflow/apply-operations.ts";
import { withoutNodes } from "#server/workflow/choose-changes.ts";
import { countDiff, diffGraphs } from "#server/workflow/diff.ts";
import { findFaults, labelOf, MAX_COMPARED } from "#server/workflow/graph.ts";
import { type GraphMerge, mergeGraphs } from "#server/workflow/merge.ts";
import { Operation } from "#server/workflow/operations.ts";
import { findOversized, Graph, type Problem, TOO_MANY_KEYS } from "#server/workflow/schema.ts";

// Changes of a workflow that wait for a person. The draft changes only when somebody accepts.

/** A proposal as its person sees it. */
const proposalDto = (row: AssistantProposal): Proposal => ({
  id: row.id,
  workflow_id: row.workflow_id,
  base: { draft_revision: row.base_revision, ...Graph.parse(row.base) },
  graph: Graph.parse(row.graph),
  operations: Operation.array().parse(row.operations),
  summary: row.summary,
  status: row.status,
  problems: ProposalProblem.array().parse(row.problems),
  created_at: row.created_at.toISOString(),
});

/** What stands in a text for a secret of the project: whoever writes it back would put it in the secret's place. */
const MASKED = "••••";

/** What a save would refuse in the trigger of a graph, such as a schedule that never comes, and did not in that of `base`. */
function newTriggerFaults(base: Graph, graph: Graph): string[] {
  const known = new Set(triggerFaults(base).map(({ message }) => message));
  return triggerFaults(graph).flatMap(({ message }) => (known.has(message) ? [] : [message]));
}

/** What the operations make of a draft. @throws AppError VALIDATION_ERROR that says what is wrong with each */
function proposedGraph(base: Graph, operations: readonly Operation[]): Graph {
  const refuse = (errors: { path: string; message: string }[]) => {
    const said = errors.map(({ path, message }) => `${path}: ${message}`).join("\n");
    return new AppError("VALIDATION_ERROR", `Nothing was proposed. Mend this and send all operations again:\n${said}`, { errors });
  };
  const hidden = operations.flatMap((operation, index) => (JSON.stringify(operation).includes(MASKED) ? [index] : []));
  if (hidden.length > 0) {
    const message = `${MASKED} stands for a secret that you cannot read. Leave that field as it is, or name a credential: {{credentials.NAME}}.`;
    throw refuse(hidden.map((index) => ({ path: `operations.${index}`, message })));
  }
  const result = applyOperations(base, operations);
  if ("faults" in result)
    throw refuse(result.faults.map(({ index, message }) => ({ path: index === null ? "workflow" : `operations.${index}`, message })));
  const graph = settledGraph(result.graph);
  const faults = newTriggerFaults(base, graph);
  if (faults.length > 0) throw refuse(faults.map((message) => ({ path: "workflow", message })));
  const oversized = graph.nodes[findOversized(graph.nodes)];
  if (oversized) throw refuse([{ path: `nodes.${oversized.id}`, message: TOO_MANY_KEYS }]);
  const size = Buffer.byteLength(JSON.stringify(graph));
  if (!Graph.safeParse(graph).success || size > settings().MAX_BODY_BYTES)
    throw refuse([{ path: "workflow", message: "The workflow would be larger than a workflow can be." }]);
  return graph;
}

/** The problems of a proposal, those that its draft does not have first. */
function toldApart(before: readonly Problem[], after: readonly Problem[]): Proposal["problems"] {
  const keyOf = ({ node_id, field, message }: Problem) => JSON.stringify([node_id, field, message]);
  const known = new Set(before.map(keyOf));
  return after.map((problem) => ({ ...problem, is_new: !known.has(keyOf(problem)) })).sort((a, b) => Number(b.is_new) - Number(a.is_new));
}

/**
 * Proposes a change of a workflow's draft as it is now. Older proposals of the thread for the same workflow that nobody has
 * decided are rejected: the new one takes their place.
 * @throws AppError PERMISSION_DENIED for a viewer; NOT_FOUND; VALIDATION_ERROR with everything that is wrong with the operations;
 *   CONFLICT when the project holds as much as it may
 */
export async function propose(
  principal: ProjectPrincipal,
  { thread_id, message_id }: { thread_id: string; message_id: string },
  { workflow_id, summary, operations }: { workflow_id: string; summary: string; operations: readonly Operation[] },
): Promise<Proposal> {
  assertRole(principal, "editor");
  await assertRoom(principal.project.id);
  const { draft } = await findWorkflow(principal, workflow_id, { draft: true });
  if (!draft) throw notFound("workflow");
  const base = Graph.parse(draft.graph);
  const graph = proposedGraph(base, operations);
  const project_id = principal.project.id;
  const [before, after] = await Promise.all([draftProblems(project_id, base), draftProblems(project_id, graph)]);
  const problems = toldApart(before.problems, after.problems);
  const row = await db().$transaction(async (tx) => {
    await holdThread(tx, thread_id);
    const where = { thread_id, workflow_id, status: "open" } as const;
    for (const older of await tx.assistantProposal.findMany({ where, select: { id: true, message_id: true } }))
      await close(tx, { ...older, thread_id }, "rejected");
    const data = { id: uuid(), thread_id, message_id, workflow_id, base_revision: draft.revision, summary };
    const made = await tx.assistantProposal.create({
      data: {
        ...data,
        base: jsonColumn(base),
        graph: jsonColumn(graph),
        operations: jsonColumn(operations),
        problems: jsonColumn(problems),
      },
    });
    const { id, status } = made;
    await tellThread(tx, thread_id, [{ type: "proposal", message_id, id, workflow_id, summary, status, problems }]);
    return made;
  });
  noteGraph(principal.project.id, graph, 2);
  return proposalDto(row);
}

/** The parts of two graphs that differ, with the nodes that they are attached to: what is shown of a proposal that is over. */
function differing(base: Graph, graph: Graph): { base: Graph; graph: Graph } {
  const diff = diffGraphs(base, graph);
  const changed = new Set(diff.edges.map(({ id }) => id));
  const edges = [...base.edges, ...graph.edges].filter(({ id }) => changed.has(id));
  const kept = new Set([...diff.nodes.map(({ id }) => id), ...edges.flatMap(({ source, target }) => [source, target])]);
  const partOf = (whole: Graph): Graph => ({
    nodes: whole.nodes.filter(({ id }) => kept.has(id)),
    edges: whole.edges.filter(({ id }) => changed.has(id)),
  });
  return { base: partOf(base), graph: partOf(graph) };
}

/** Gives a proposal that is not over its end, and tells its thread. Of one that nobody can accept any more only what it changed is kept. */
async function close(
  tx: Tx,
  { id, thread_id, message_id }: Pick<AssistantProposal, "id" | "thread_id" | "message_id">,
  status: "accepted" | "rejected" | "conflict",
): Promise<AssistantProposal> {
  const { base, graph } = await tx.assistantProposal.findUniqueOrThrow({ where: { id }, select: { base: true, graph: true } });
  const kept = status === "conflict" ? undefined : differing(Graph.parse(base), Graph.parse(graph));
  const parts = kept && { base: jsonColumn(kept.base), graph: jsonColumn(kept.graph) };
  const data = { status, decided_at: new Date(), ...parts };
  const row = await tx.assistantProposal.update({ where: { id }, data });
  await tellThread(tx, thread_id, [{ type: "decided", message_id, id, outcome: status }]);
  return row;
}

/**
 * A proposal in a thread of the caller.
 * @throws AppError NOT_FOUND, also for one in somebody else's
 */
export async function findProposal({ user, project }: ProjectPrincipal, proposal_id: string): Promise<AssistantProposal> {
  const where = { id: proposal_id, thread: { user_id: user.id, project_id: project.id }, workflow: { deleted_at: null } };
  const row = isUuid(proposal_id) ? await db().assistantProposal.findFirst({ where }) : null;
  if (!row) throw notFound("proposal");
  return row;
}

/** @throws AppError NOT_FOUND */
export const getProposal = async (principal: ProjectPrincipal, { proposal_id }: { proposal_id: string }): Promise<Proposal> =>
  proposalDto(await findProposal(principal, proposal_id));

/** Most proposals that wait for one person at one workflow, of which each thread has one at most. */
const MOST_OPEN = 20;
/** Characters of their graphs that are sent together at most, unless one alone has more. */
const MOST_SENT = 4_000_000;

/**
 * What waits for the caller at a workflow, the newest first: as many as can be sent together.
 * @throws AppError NOT_FOUND
 */
export async function openProposals(principal: ProjectPrincipal, { workflow_id }: { workflow_id: string }): Promise<{ items: Proposal[] }> {
  const { user, project } = principal;
  const { id } = await findWorkflow(principal, workflow_id, { id: true });
  const sent = await db().$queryRaw<{ id: string }[]>`
    SELECT id FROM (
      SELECT id, sum(size) OVER newest AS together, row_number() OVER newest AS place FROM (
        SELECT p.id, length(p.base::text) + length(p.graph::text) + length(p.operations::text) AS size
        FROM assistant_proposals p JOIN assistant_threads t ON t.id = p.thread_id
        WHERE p.workflow_id = ${id}::uuid AND p.status = 'open' AND t.user_id = ${user.id}::uuid AND t.project_id = ${project.id}::uuid
        ORDER BY p.id DESC LIMIT ${MOST_OPEN}
      ) AS open WINDOW newest AS (ORDER BY id DESC)
    ) AS counted WHERE together <= ${MOST_SENT} OR place = 1`;
  const rows = await db().assistantProposal.findMany({ where: { id: { in: sent.map(({ id }) => id) } }, orderBy: { id: "desc" } });
  return { items: rows.map(proposalDto) };
}

/** What both changed, in words: `“Write” (input)`, `the connection from “Start” to “Write”`. */
function clashesOf({ both }: GraphMerge, graphs: readonly Graph[]): { path: string; message: string }[] {
  const nodes = new Map(graphs.flatMap((graph) => graph.nodes.map((node) => [node.id, node] as const)));
  const named = (id: string) => {
    const node = nodes.get(id);
    return `“${node ? labelOf(node) : id}”`;
  };
  return [
    ...both.nodes.map(({ id, fields }) => {
      const which = fields.map(({ field }) => field).join(", ");
      return { path: `nodes.${id}`, message: `${named(id)}${which ? ` (${which})` : ""}` };
    }),
    ...both.edges.map(({ id, edge }) => ({
      path: `edges.${id}`,
      message: `the connection from ${named(edge.source)} to ${named(edge.target)}`,
    })),
  ];
}

/** A proposal that can still be decided, held for the rest of the transaction. @throws AppError CONFLICT for another */
async function heldProposal(tx: Tx, { id, thread_id }: AssistantProposal): Promise<AssistantProposal> {
  await holdThread(tx, thread_id);
  const row = await tx.assistantProposal.findUniqueOrThrow({ where: { id } });
  if (row.status === "accepted" || row.status === "rejected")
    throw new AppError("CONFLICT", `This proposal was ${row.status} already. Ask the assistant for another one.`);
  return row;
}

/** What of a proposal is taken. @throws AppError VALIDATION_ERROR when the rest alone is no workflow */
function chosenGraph(base: Graph, proposed: Graph, leave_out: readonly string[]): Graph {
  if (leave_out.length === 0) return proposed;
  const chosen = withoutNodes(base, proposed, new Set(leave_out));
  const known = new Set(findFaults(base, MAX_COMPARED).map(({ message }) => message));
  const fault = findFaults(chosen, MAX_COMPARED).find(({ message }) => !known.has(message));
  if (!fault) return chosen;
  throw invalidField("leave_out", fault.message, `Without what is left out the rest cannot stand: ${fault.message}`);
}

/**
 * Takes a proposal into the draft as it is now, whatever has changed there meanwhile.
 * @throws AppError NOT_FOUND; CONFLICT when it was decided before, and when draft and proposal changed the same in different
 *   ways, with what that is; VALIDATION_ERROR when what is not left out cannot stand alone
 */
export async function acceptProposal(
  principal: ProjectPrincipal,
  { proposal_id, leave_out = [] }: AcceptProposalInput,
): Promise<AcceptedProposal> {
  const project_id = principal.project.id;
  const found = await findProposal(principal, proposal_id);
  const { workflow_id } = found;
  const [base, proposed] = [Graph.parse(found.base), Graph.parse(found.graph)];
  const chosen = chosenGraph(base, proposed, leave_out);
  const accepted = await db().$transaction(async (tx) => {
    await lockAgentNames(tx, project_id);
    const proposal = await heldProposal(tx, found);
    await tx.$queryRaw`SELECT 1 FROM workflow_drafts WHERE workflow_id = ${workflow_id}::uuid FOR UPDATE`;
    const { name, snapshot_id, draft } = await findWorkflow(principal, workflow_id, { name: true, draft: true, snapshot_id: true }, tx);
    if (!draft) throw notFound("workflow");
    const now = Graph.parse(draft.graph);
    // Agents renamed since the proposal was made are read by their current names in the draft.
    const renamed = async (graph: Graph) => (await withCurrentNames(tx, project_id, graph)).graph;
    const merge = mergeGraphs(await renamed(base), await renamed(chosen), now);
    if (!merge.isClean) {
      await close(tx, proposal, "conflict");
      return { errors: clashesOf(merge, [now, chosen, base]) };
    }
    const graph = settledGraph(merge.graph);
    const row = await tx.workflowDraft.update({
      where: { workflow_id },
      data: { graph: jsonColumn(graph), revision: { increment: 1 }, updated_by_id: principal.user.id, by: "assistant" },
      include: { updated_by: { select: { name: true } } },
    });
    const saved = await tx.workflowSnapshot.findUniqueOrThrow({ where: { id: snapshot_id }, select: { graph: true } });
    await recordAgentUses(workflow_id, [graph, Graph.parse(saved.graph)], tx);
    const detail = { proposal_id, revision: row.revision, ...countDiff(diffGraphs(now, graph)) };
    const resource = { resource_type: "workflow", resource_id: workflow_id, resource_name: name } as const;
    await recordAudit(tx, principal, { action: "workflow.accept_proposal", ...resource, detail });
    return { proposal: await close(tx, proposal, "accepted"), row };
  });
  if ("errors" in accepted) {
    const what = accepted.errors.map(({ message }) => message).join(", ");
    throw new AppError(
      "CONFLICT",
      `The draft was changed since, and both changed ${what}. Leave these out, or ask the assistant again.`,
      accepted,
    );
  }
  return { ...proposalDto(accepted.proposal), draft: await draftDto(project_id, accepted.row) };
}

/**
 * Decides against a proposal.
 * @throws AppError NOT_FOUND; CONFLICT when it was decided before
 */
export async function rejectProposal(principal: ProjectPrincipal, { proposal_id }: { proposal_id: string }): Promise<Proposal> {
  const found = await findProposal(principal, proposal_id);
  return proposalDto(await db().$transaction(async (tx) => close(tx, await heldProposal(tx, found), "rejected")));
}
