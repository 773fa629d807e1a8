import { builtinSkills } from "#server/features/skills/builtin-skills.ts";
import type { Skill } from "#server/features/skills/schema.ts";
import { toSkill } from "#server/features/skills/skill-dto.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { pageWindow } from "#server/platform/paging.ts";
import type { Page, PageInput } from "#server/shared/primitives-schema.ts";

/** The project's skills, newest first, and after them the built-in ones, as one list. */
export async function listSkills({ project }: ProjectPrincipal, input: PageInput): Promise<Page<Skill>> {
  const where = { project_id: project.id };
  const { skip, take } = pageWindow(input);
  const [own, rows] = await Promise.all([db().skill.count({ where }), db().skill.findMany({ where, orderBy: { id: "desc" }, skip, take })]);
  const from = Math.max(0, skip - own);
  const builtin = skip + take > own ? builtinSkills.slice(from, from + take - rows.length) : [];
  return { items: [...rows.map(toSkill), ...builtin], total: own + builtinSkills.length, page: input.page, per_page: input.per_page };
}
