import { toAgent, withLinks } from "#server/features/agents/agent-dto.ts";
import type { Agent } from "#server/features/agents/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import type { Page, PageInput } from "#server/shared/primitives-schema.ts";

/** The project's agents, newest first. */
export async function listAgents(principal: ProjectPrincipal, input: PageInput): Promise<Page<Agent>> {
  const where = { project_id: principal.project.id };
  const rows = db().agent.findMany({ where, orderBy: { id: "desc" }, include: withLinks, ...pageWindow(input) });
  return paged(input, await Promise.all([db().agent.count({ where }), rows]), toAgent);
}
