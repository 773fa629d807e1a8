import { db } from "#server/db/client.ts";
import { AppError, isAppError } from "#server/errors.ts";
import type { FileAgent } from "#server/schemas/workflow-file.ts";
import { type NewAgent, prepareAgent } from "#server/services/agents/create-agent.ts";
import { validateModel } from "#server/services/agents/validate-model.ts";
import type { Existing, Needs } from "#server/services/workflow-files/find-needs.ts";
import type { Links } from "#server/services/workflow-files/plan-links.ts";

/** What becomes of one agent of a file. */
export type AgentPlan = { key: string } & (
  | { action: "use"; agent_id: string }
  | { action: "open"; definition: FileAgent | undefined }
  | {
      action: "create";
      name: string;
      prepared: Pick<NewAgent, "data" | "abilities">;
      /** The definition with only those links that nothing here stands for, if any. */
      open: FileAgent | undefined;
    }
);

const MOST_CHARACTERS = 120;

/** The name, or with the first number that makes it free. */
function freeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number++) free = `${name.slice(0, MOST_CHARACTERS - 6)} ${number}`;
  taken.add(free);
  return free;
}

/** Says in an error which agent it is about. */
async function about<Result>(name: string, path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isAppError(error)) throw error;
    const errors = (error.errors ?? []).map(({ path: field, message }) => ({ path: `${path}.${field}`, message }));
    throw new AppError(error.code, `Agent "${name}": ${error.message}`, { errors, cause: error });
  }
}

/** How many models are called at a time. */
const AT_ONCE = 8;

/** Calls each model once, however many agents are to use it. */
async function tryModels(agents: { name: string; path: string; trial: NewAgent["trial"] }[]): Promise<void> {
  const kindOf = ({ trial: { endpoint, choice } }: (typeof agents)[number]) => JSON.stringify([endpoint.keyName, choice]);
  const distinct = [...new Map(agents.map((agent) => [kindOf(agent), agent])).values()];
  for (let from = 0; from < distinct.length; from += AT_ONCE)
    await Promise.all(
      distinct
        .slice(from, from + AT_ONCE)
        .map(({ name, path, trial }) => about(name, path, () => validateModel(trial.endpoint, trial.choice))),
    );
}

/**
 * Decides about each agent of a file, and calls the models of those that are to be made. Writes nothing.
 * @param newSkills those that the import makes
 * @throws AppError VALIDATION_ERROR or UPSTREAM_ERROR that names the agent
 */
export async function planAgents(project_id: string, needs: Needs, links: Links, newSkills: readonly Existing[]): Promise<AgentPlan[]> {
  const rows = links.agents.size ? await db().agent.findMany({ where: { project_id }, select: { name: true } }) : [];
  const taken = new Set(rows.map(({ name }) => name));
  const trials: Parameters<typeof tryModels>[0] = [];
  const plans: AgentPlan[] = [];
  for (const { key, definition, existing } of needs.agents) {
    const { link, path } = links.agents.get(key) ?? { link: undefined, path: "" };
    if (link?.action === "use") plans.push({ key, action: "use", agent_id: link.agent_id.toLowerCase() });
    else if (!link && existing) plans.push({ key, action: "use", agent_id: existing.id });
    else if (link?.action !== "create" || !definition) plans.push({ key, action: "open", definition });
    else {
      const { mcp_servers, rag_sources, skills, ...fields } = definition;
      const model = link.model ?? definition.model;
      if (model === "") {
        const message = `Agent "${definition.name}": the file names no model for it. Choose one.`;
        throw new AppError("VALIDATION_ERROR", message, { errors: [{ path: `${path}.model`, message }] });
      }
      const ids = (names: readonly string[], idOf: (name: string) => string | null | undefined) =>
        names.flatMap((name) => idOf(name) ?? []);
      const { trial, data, abilities } = await about(definition.name, path, () =>
        prepareAgent(project_id, {
          ...fields,
          llm_key_id: link.llm_key_id,
          model,
          mcp_server_ids: ids(mcp_servers, (name) => links.mcp_servers.get(name)),
          rag_ids: ids(rag_sources, (name) => links.rag_sources.get(name)),
          skill_ids: ids(skills, (name) => needs.skills.get(name)?.id),
        }),
      );
      const made = ids(skills, (name) => newSkills.find((skill) => skill.name === name)?.id);
      const name = freeName(definition.name, taken);
      const open = {
        ...definition,
        mcp_servers: mcp_servers.filter((server) => !links.mcp_servers.get(server)),
        rag_sources: rag_sources.filter((source) => !links.rag_sources.get(source)),
        skills: skills.filter((skill) => !needs.skills.get(skill) && !newSkills.some((one) => one.name === skill)),
      };
      const isOpen = open.mcp_servers.length + open.rag_sources.length + open.skills.length > 0;
      plans.push({
        key,
        action: "create",
        name,
        prepared: { data, abilities: { ...abilities, skill_ids: [...abilities.skill_ids, ...made] } },
        open: isOpen ? open : undefined,
      });
      trials.push({ name: definition.name, path, trial });
    }
  }
  await tryModels(trials);
  return plans;
}
