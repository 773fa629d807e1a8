import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { Page, PageInput } from "#server/schemas/primitives.ts";
import type { Skill } from "#server/schemas/skill.ts";
import { pageWindow } from "#server/services/paging.ts";
import { builtinSkills } from "#server/services/skills/builtin-skills.ts";
import { toSkill } from "#server/services/skills/skill-dto.ts";

/** The project's skills, newest first, and after them the built-in ones, as one list. */
export async function listSkills({ project }: ProjectPrincipal, input: PageInput): Promise<Page<Skill>> {
  const where = { project_id: project.id };
  const { skip, take } = pageWindow(input);
  const [own, rows] = await Promise.all([db().skill.count({ where }), db().skill.findMany({ where, orderBy: { id: "desc" }, skip, take })]);
  const from = Math.max(0, skip - own);
  const builtin = skip + take > own ? builtinSkills.slice(from, from + take - rows.length) : [];
  return { items: [...rows.map(toSkill), ...builtin], total: own + builtinSkills.length, page: input.page, per_page: input.per_page };
}
