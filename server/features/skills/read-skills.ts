import { builtinSkills } from "#server/features/skills/builtin-skills.ts";
import type { Skill } from "#server/features/skills/schema.ts";
import { toSkill } from "#server/features/skills/skill-dto.ts";
import { db } from "#server/platform/db/client.ts";
import { isUuid } from "#server/platform/new-id.ts";

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
