import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { Agent } from "#server/schemas/agent.ts";
import type { Page, PageInput } from "#server/schemas/primitives.ts";
import { toAgent, withLinks } from "#server/services/agents/agent-dto.ts";
import { paged, pageWindow } from "#server/services/paging.ts";

/** The project's agents, newest first. */
export async function listAgents(principal: ProjectPrincipal, input: PageInput): Promise<Page<Agent>> {
  const where = { project_id: principal.project.id };
  const rows = db().agent.findMany({ where, orderBy: { id: "desc" }, include: withLinks, ...pageWindow(input) });
  return paged(input, await Promise.all([db().agent.count({ where }), rows]), toAgent);
}
