import { LRUCache } from "lru-cache";
import type { Prisma } from "#prisma/generated/client.ts";
import { assertAgent, toAgent, withLinks } from "#server/features/agents/find-agent.ts";
import { type Agent, AgentVersion, type AgentVersionSummary, MOST_VERSIONS, NEWEST_VERSIONS } from "#server/features/agents/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { jsonColumn } from "#server/platform/db/json-column.ts";
import { AppError } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import type { Page, PageInput } from "#server/shared/primitives-schema.ts";

const listed = {
  version: true,
  changed: true,
  restored_from: true,
  created_at: true,
  saved_by: { select: { id: true, name: true } },
} as const satisfies Prisma.AgentVersionSelect;

type Listed = Prisma.AgentVersionGetPayload<{ select: typeof listed }>;

const toSummary = ({ created_at, changed, ...row }: Listed, current: number): AgentVersionSummary => ({
  ...row,
  is_current: row.version === current,
  changed: AgentVersion.shape.changed.parse(changed),
  created_at: created_at.toISOString(),
});

const noSuchVersion = (version: number) =>
  new AppError(
    "NOT_FOUND",
    `This agent has no version ${version}, or it is no longer kept. GET /agents/{agent_id}/versions lists those that are.`,
  );

/**
 * The kept versions of an agent, newest first.
 * @throws AppError NOT_FOUND
 */
export async function listAgentVersions(
  { project }: ProjectPrincipal,
  { agent_id, ...input }: PageInput & { agent_id: string },
): Promise<Page<AgentVersionSummary>> {
  const { version } = await assertAgent(project.id, agent_id);
  const where = { agent_id };
  const rows = db().agentVersion.findMany({ where, select: listed, orderBy: { version: "desc" }, ...pageWindow(input) });
  return paged(input, await Promise.all([db().agentVersion.count({ where }), rows]), (row) => toSummary(row, version));
}

/**
 * One version of an agent, with what it was then.
 * @throws AppError NOT_FOUND for the agent or the version
 */
export async function getAgentVersion(
  { project }: ProjectPrincipal,
  { agent_id, version }: { agent_id: string; version: number },
): Promise<AgentVersion> {
  const current = await assertAgent(project.id, agent_id);
  const row = await db().agentVersion.findUnique({
    where: { agent_id_version: { agent_id, version } },
    select: { ...listed, config: true },
  });
  if (!row) throw noSuchVersion(version);
  const { config, ...summary } = row;
  return { ...toSummary(summary, current.version), config: AgentVersion.shape.config.parse(config) };
}

export interface VersionNote {
  saved_by_id: string;
  changed: string[];
  restored_from: number | null;
}

/** Keeps an agent as it is now as the version that it bears, and removes old ones that nobody needs. */
export async function keepVersion(tx: Prisma.TransactionClient, agent_id: string, note: VersionNote): Promise<void> {
  const of = { where: { agent_id } };
  // One after the other: a transaction has one connection, and the links of an `include` are asked for at once.
  const row = {
    ...(await tx.agent.findUniqueOrThrow({ where: { id: agent_id } })),
    mcp_servers: await tx.agentMcpServer.findMany({ ...of, ...withLinks.mcp_servers }),
    rag_sources: await tx.agentRagSource.findMany({ ...of, ...withLinks.rag_sources }),
    skills: await tx.agentSkill.findMany({ ...of, ...withLinks.skills }),
  };
  const { id: _, created_at: __, updated_at: ___, version, ...config } = toAgent(row);
  const data = { agent_id, version, config: jsonColumn(config), created_at: row.updated_at, ...note };
  await tx.agentVersion.create({ data });
  if (version <= NEWEST_VERSIONS) return;
  const tooOld = [{ version: { lte: version - MOST_VERSIONS } }, { version: { lte: version - NEWEST_VERSIONS }, has_run: false }];
  await tx.agentVersion.deleteMany({ where: { agent_id, OR: tooOld } });
}

const MOST_NAMED = 50;

/**
 * The refusal of a change that was made on an agent as it is no longer: who saved it since, and what is different.
 * @param from what the change says that it begins from, and in which field
 * @param on transaction of the caller, if it has one open
 */
export async function savedMeanwhile(
  agent_id: string,
  from: { path: "version"; version: number } | { path: "if_unchanged_since"; since: Date },
  on: Prisma.TransactionClient = db(),
): Promise<AppError> {
  const where = from.path === "version" ? { version: { gt: from.version } } : { created_at: { gt: from.since } };
  const saves = await on.agentVersion.findMany({
    where: { agent_id, ...where },
    select: listed,
    orderBy: { version: "desc" },
    take: MOST_NAMED,
  });
  const who = saves[0]?.saved_by?.name || "A former member";
  const fields = [...new Set(saves.flatMap(({ changed }) => changed))].sort();
  const what = fields.length ? ` (changed: ${fields.join(", ")})` : "";
  const said = `${who} saved this agent after you loaded it`;
  const message = `${said}${what}. Load it again, or leave ${from.path} out to write over that.`;
  return new AppError("CONFLICT", message, { errors: [{ path: from.path, message: `${said}.` }] });
}

/**
 * What a restore of a version sets: all but the name, by which workflows read its answers.
 * @throws AppError NOT_FOUND
 */
export async function restorable(
  agent_id: string,
  version: number,
): Promise<Omit<Agent, "id" | "name" | "version" | "created_at" | "updated_at">> {
  const row = await db().agentVersion.findUnique({ where: { agent_id_version: { agent_id, version } }, select: { config: true } });
  if (!row) throw noSuchVersion(version);
  const { name: _, ...config } = AgentVersion.shape.config.parse(row.config);
  return config;
}

// Each version is marked once, not with each of its calls.
const marked = new LRUCache<string, true>({ max: 10_000 });

/** Takes note that a version answers in a run, whose log will name it. Waits for nothing. */
export function markRun(agent_id: string, version: number): void {
  const key = `${agent_id} ${version}`;
  if (marked.has(key)) return;
  marked.set(key, true);
  const values = [agent_id, version];
  pool()
    .query({
      name: "agent-version-ran",
      text: "UPDATE agent_versions SET has_run = true WHERE agent_id = $1 AND version = $2 AND NOT has_run",
      values,
    })
    .catch((error: unknown) => {
      marked.delete(key);
      log.warn({ err: error, agent_id, version }, "a version of an agent could not be marked as one that a run names");
    });
}
