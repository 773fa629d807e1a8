import type { z } from "zod";
import { db } from "#server/db/client.ts";
import { FileAgent, type FileSkill, type ImportedAgent } from "#server/schemas/workflow-file.ts";
import { isUuid } from "#server/services/ids.ts";
import { builtinSkills } from "#server/services/skills/builtin-skills.ts";
import { readSkills } from "#server/services/skills/read-skills.ts";
import { slugOf } from "#server/services/workflow-files/slug-of.ts";

/** An agent without its name within a file. */
const Definition = FileAgent.omit({ key: true });
export type Definition = z.infer<typeof Definition>;

/** The agents of the project among `ids`, as definitions. */
export async function definitionsOf(project_id: string, ids: string[]): Promise<Map<string, Definition>> {
  const rows = await db().agent.findMany({
    where: { project_id, id: { in: ids.filter(isUuid) } },
    include: {
      llm_key: { select: { provider: true } },
      mcp_servers: { select: { mcp_server: { select: { name: true } } } },
      rag_sources: { select: { rag_source: { select: { name: true } } } },
      skills: { select: { skill_id: true } },
    },
  });
  const skills = await readSkills(project_id, [...new Set(rows.flatMap((row) => row.skills.map(({ skill_id }) => skill_id)))]);
  return new Map(
    rows.map((row) => {
      const definition = Definition.parse({
        name: row.name,
        description: row.description,
        provider: row.llm_key.provider,
        model: row.model,
        system_prompt: row.system_prompt,
        temperature: row.temperature,
        max_tokens: row.max_tokens,
        tools: row.tools,
        output_schema: row.output_schema,
        mcp_servers: row.mcp_servers.map(({ mcp_server }) => mcp_server.name).sort(),
        rag_sources: row.rag_sources.map(({ rag_source }) => rag_source.name).sort(),
        skills: row.skills.flatMap(({ skill_id }) => skills.find((skill) => skill.id === skill_id)?.name ?? []).sort(),
      });
      return [row.id, definition];
    }),
  );
}

const together = (one: readonly string[], other: readonly string[]) => [...new Set([...one, ...other])].sort();

/** An agent as it is here, with what an import left open of it. */
export function whole(here: Definition | undefined, open: ImportedAgent | undefined): Definition | undefined {
  if (!open) return here;
  const { agent_id: _, key: __, ...definition } = open;
  if (!here) return definition;
  const { mcp_servers, rag_sources, skills } = definition;
  return {
    ...here,
    mcp_servers: together(here.mcp_servers, mcp_servers),
    rag_sources: together(here.rag_sources, rag_sources),
    skills: together(here.skills, skills),
  };
}

/** Gives equal definitions one key, and different ones different keys. */
export class Keys {
  readonly agents: FileAgent[] = [];
  readonly #known = new Map<string, string>();

  keyOf(definition: Definition): string {
    const content = JSON.stringify(definition);
    const known = this.#known.get(content);
    if (known !== undefined) return known;
    const slug = slugOf(definition.name);
    const taken = new Set(this.agents.map(({ key }) => key));
    let key = slug;
    for (let number = 2; taken.has(key); number++) key = `${slug}-${number}`;
    this.#known.set(content, key);
    this.agents.push({ key, ...definition });
    return key;
  }
}

/** The skills of these names, as they are here; what is built in goes by its name alone. */
export async function skillsNamed(project_id: string, names: readonly string[]): Promise<FileSkill[]> {
  const builtin = names.filter((name) => builtinSkills.some((skill) => skill.name === name));
  const own = names.filter((name) => !builtin.includes(name));
  const rows = own.length ? await db().skill.findMany({ where: { project_id, name: { in: own } } }) : [];
  const skills: FileSkill[] = [
    ...builtin.map((name) => ({ name, description: "", prompt: null, model: "" })),
    ...rows.map(({ name, description, prompt, model }) => ({ name, description, prompt, model: model ?? "" })),
  ];
  return skills.sort((one, other) => (one.name < other.name ? -1 : 1));
}
