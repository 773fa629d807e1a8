import { triggerOf } from "#server/features/workflows/checks.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { readTogether } from "#server/platform/db/read-together.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { AGENTS_OF_WORKFLOW, type AgentNames } from "#server/runs/store/agent-names.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import type { Role } from "#server/shared/primitives-schema.ts";
import { triggerNode } from "#server/workflow/nodes/trigger-node.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** A workflow as its last save left it, with what its trigger needs to start a run. */
export interface SavedWorkflow {
  id: string;
  project_id: string;
  enabled: boolean;
  version: number;
  snapshot_id: string;
  graph: Graph;
  trigger: ReturnType<typeof triggerNode.config.parse>;
  /** Names of the agents that it uses. */
  agents: AgentNames;
  /** Of the webhook, when one was set up. */
  sealed_secret: string | null;
  /** Whether somebody waits in the editor for the webhook's next call. */
  is_listening: boolean;
  /** Its project and the asking user's role there, when that user is a member. */
  membership: Pick<ProjectPrincipal, "project" | "role"> | null;
}

const READ = {
  name: "saved-workflow",
  text: `SELECT w.id, w.project_id, w.enabled, w.version, w.snapshot_id, h.sealed_secret, coalesce(h.listen_until > now(), false) AS is_listening, m.role, coalesce(m.slug, p.slug) AS slug, p.name, ${AGENTS_OF_WORKFLOW}
         FROM workflows w LEFT JOIN webhooks h ON h.workflow_id = w.id
         LEFT JOIN (memberships m JOIN projects p ON p.id = m.project_id) ON m.project_id = w.project_id AND m.user_id = $2
         WHERE w.id = $1 AND w.deleted_at IS NULL`,
};

type Row = Omit<SavedWorkflow, "trigger" | "graph" | "membership"> & { role: Role | null; slug: string; name: string };

/**
 * The saved version of a workflow of any project, or undefined. Who may run it is for the caller to check,
 * by a signature or by the membership.
 * @param user_id who asks, if that is known
 */
export async function savedWorkflow(workflow_id: string, user_id: string | null = null): Promise<SavedWorkflow | undefined> {
  if (!isUuid(workflow_id)) return undefined;
  const [found] = await readTogether<Row>({ ...READ, values: [workflow_id, user_id] });
  if (!found) return undefined;
  const { role, slug, name, ...row } = found;
  const graph = await snapshotGraph(row.snapshot_id);
  const membership = role && { role, project: { id: row.project_id, slug, name } };
  return { ...row, graph, membership, trigger: triggerNode.config.parse(triggerOf(graph)?.data) };
}
