import { db } from "#server/db/client.ts";
import type { Skill } from "#server/schemas/skill.ts";
import { isUuid } from "#server/services/ids.ts";
import { builtinSkills } from "#server/services/skills/builtin-skills.ts";
import { toSkill } from "#server/services/skills/skill-dto.ts";

/**
 * Those of `ids` that are skills of the project or built-in, in the order asked for: what is missing does not exist there.
 * @param ids as stored with an agent, or as somebody sent them
 */
export async function readSkills(project_id: string, ids: readonly string[]): Promise<Skill[]> {
  const wanted = ids.map((id) => id.toLowerCase());
  const builtin = builtinSkills.filter(({ id }) => wanted.includes(id));
  const others = wanted.filter((id) => isUuid(id) && !builtin.some((skill) => skill.id === id));
  const rows = others.length ? await db().skill.findMany({ where: { project_id, id: { in: others } } }) : [];
  const known = new Map([...builtin, ...rows.map(toSkill)].map((skill) => [skill.id, skill]));
  return [...new Set(wanted)].flatMap((id) => known.get(id) ?? []);
}
