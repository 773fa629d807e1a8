import { v7 as uuid } from "uuid";
import type { Prisma } from "#prisma/generated/client.ts";
import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import type { Graph } from "#server/schemas/graph.ts";
import type { FileSkill, ImportedAgent, ImportGraphInput, WorkflowFile } from "#server/schemas/workflow-file.ts";
import { insertAgent } from "#server/services/agents/create-agent.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { isForeignKeyViolation, isUniqueViolation } from "#server/services/database-errors.ts";
import { findNeeds } from "#server/services/workflow-files/find-needs.ts";
import { type AgentPlan, planAgents } from "#server/services/workflow-files/plan-agents.ts";
import { planLinks } from "#server/services/workflow-files/plan-links.ts";
import { readWorkflowFile } from "#server/services/workflow-files/read-workflow-file.ts";

/** Time for the writes of a file with many agents, in milliseconds. */
const MOST_MS = 30_000;

const changedMeanwhile = () =>
  new AppError("CONFLICT", "An agent, a key or something else that this import needs changed in this moment. Import the file again.");

async function makeSkills(
  tx: Prisma.TransactionClient,
  principal: ProjectPrincipal,
  skills: (FileSkill & { id: string })[],
): Promise<void> {
  for (const { id, name, description, prompt, model } of skills) {
    await tx.skill.create({
      data: { id, project_id: principal.project.id, name, description, prompt: prompt ?? "", model: model || null },
    });
    await recordAudit(principal, { action: "skill.create", resource_type: "skill", resource_id: id, resource_name: name }, tx);
  }
}

/** What the nodes of one agent get in their data. */
async function linked(tx: Prisma.TransactionClient, principal: ProjectPrincipal, plan: AgentPlan) {
  if (plan.action === "use") return { agent_id: plan.agent_id };
  if (plan.action === "open") return plan.definition ? { agent_id: "", imported_agent: plan.definition } : {};
  const { name, prepared, open } = plan;
  const { id } = await insertAgent(tx, { project_id: principal.project.id, name }, prepared);
  const detail = { model: prepared.data.model };
  await recordAudit(principal, { action: "agent.create", resource_type: "agent", resource_id: id, resource_name: name, detail }, tx);
  return { agent_id: id, ...(open && { imported_agent: open }) };
}

type LinkedData = { agent_id?: string; imported_agent?: Omit<ImportedAgent, "agent_id"> };

/** The graph with what stands here for the agents of the file. */
const withLinks = ({ nodes, edges }: Graph, byKey: ReadonlyMap<unknown, LinkedData>): Graph => ({
  edges,
  nodes: nodes.map((node) => {
    const given = byKey.get(node.data.agent_id);
    if (!given) return node;
    const { imported_agent, ...rest } = given;
    const open = imported_agent && { imported_agent: { agent_id: rest.agent_id ?? "", ...imported_agent } };
    return { ...node, data: { ...node.data, ...rest, ...open } };
  }),
});

/**
 * Makes the agents and skills that are to be made for a file, and hands on its graph with what stands here for them: all of it
 * or nothing. What is left open is kept in the nodes' data.
 * @param finish what else belongs to the same transaction
 * @throws AppError VALIDATION_ERROR for what is no workflow file, a graph with faults, or a link to what is not here;
 *   UPSTREAM_ERROR with the provider's message when an agent's check call fails; CONFLICT when something changed meanwhile
 */
export async function linkFile<Result>(
  principal: ProjectPrincipal,
  input: ImportGraphInput,
  finish: (graph: Graph, file: WorkflowFile, tx: Prisma.TransactionClient) => Promise<Result>,
): Promise<Result> {
  const project_id = principal.project.id;
  const file = readWorkflowFile(input.file);
  const needs = await findNeeds(project_id, file);
  const links = await planLinks(project_id, needs, input.links);
  const missing = [...needs.skills].flatMap(([name, existing]) => (existing ? [] : [name]));
  const newSkills = file.requires.skills
    .filter(({ name, prompt }) => prompt !== null && missing.includes(name))
    .map((skill) => ({ ...skill, id: uuid() }));
  const plans = await planAgents(project_id, needs, links, newSkills);
  try {
    return await db().$transaction(
      async (tx) => {
        await makeSkills(tx, principal, newSkills);
        const byKey = new Map<unknown, LinkedData>();
        for (const plan of plans) byKey.set(plan.key, await linked(tx, principal, plan));
        return await finish(withLinks(file, byKey), file, tx);
      },
      { timeout: MOST_MS },
    );
  } catch (error) {
    throw isUniqueViolation(error) || isForeignKeyViolation(error) ? changedMeanwhile() : error;
  }
}
