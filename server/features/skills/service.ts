import { Prisma, type Skill as SkillRow } from "#prisma/generated/client.ts";
import { builtinSkills } from "#server/features/skills/builtin-skills.ts";
import type { CreateSkillInput, Skill, UpdateSkillInput } from "#server/features/skills/schema.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import { namesInUse, saveResource } from "#server/platform/audit/resources.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { findPage } from "#server/platform/db/find-page.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { pageWindow } from "#server/platform/paging.ts";
import { assertRoom } from "#server/runs/store/limits.ts";
import { noteStored } from "#server/runs/store/space.ts";
import { containsWords, nameKey } from "#server/shared/fold-text.ts";
import type { ListInput, Page } from "#server/shared/primitives-schema.ts";

/** A project's own skill as the API shows it. */
const toSkill = ({ id, name, description, prompt, model }: SkillRow): Skill => ({
  id,
  name,
  description,
  prompt,
  ...(model && { model }),
  source: "project",
});

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

/**
 * A skill of the project, or a built-in one.
 * @throws AppError NOT_FOUND, also for a skill of another project
 */
export async function getSkill({ project }: ProjectPrincipal, { skill_id }: { skill_id: string }): Promise<Skill> {
  const [skill] = await readSkills(project.id, [skill_id]);
  if (!skill) throw notFound("skill");
  return skill;
}

/**
 * A skill that the project may change.
 * @throws AppError NOT_FOUND; CONFLICT for a built-in one
 */
async function ownSkill(principal: ProjectPrincipal, skill_id: string): Promise<Skill> {
  const skill = await getSkill(principal, { skill_id });
  if (skill.source === "builtin") throw new AppError("CONFLICT", "Built-in skills stay as they are. Make a copy, and change that.");
  return skill;
}

/** The project's skills, newest first, and after them the built-in ones, as one list. */
export async function listSkills({ project }: ProjectPrincipal, input: ListInput): Promise<Page<Skill>> {
  const given = builtinSkills.filter(({ name, description }) => containsWords(`${name} ${description}`, input.q ?? ""));
  const { skip, take } = pageWindow(input);
  const table = Prisma.sql`skills x WHERE x.project_id = ${project.id}::uuid`;
  const { total: own, ids } = await findPage(input, table, Prisma.sql`concat_ws(' ', x.name, x.description)`);
  const rows = await db().skill.findMany({ where: { id: { in: ids } }, orderBy: { id: "desc" } });
  const from = Math.max(0, skip - own);
  const builtin = skip + take > own ? given.slice(from, from + take - rows.length) : [];
  return { items: [...rows.map(toSkill), ...builtin], total: own + given.length, page: input.page, per_page: input.per_page };
}

/**
 * Writes a skill of the project and the audit entry for it, both or neither.
 * @throws AppError CONFLICT for a name that another skill of the project has, or a built-in one
 */
async function saveSkill(
  principal: ProjectPrincipal,
  action: "skill.create" | "skill.update",
  name: string,
  write: (tx: Prisma.TransactionClient) => Promise<SkillRow>,
): Promise<Skill> {
  if (builtinSkills.some((skill) => nameKey(skill.name) === nameKey(name)))
    throw new AppError("CONFLICT", `"${name}" is the name of a built-in skill. Choose another name.`);
  return toSkill(await saveResource(principal, { what: "a skill", name, action, resource_type: "skill" }, write));
}

/**
 * Makes a skill of the project.
 * @throws AppError CONFLICT for a name that is taken
 */
export async function createSkill(principal: ProjectPrincipal, { name, description, prompt, model }: CreateSkillInput): Promise<Skill> {
  await assertRoom(principal.project.id);
  noteStored(principal.project.id, "other", prompt.length);
  const data = { project_id: principal.project.id, name, description, prompt, model: model || null };
  return saveSkill(principal, "skill.create", name, (tx) => tx.skill.create({ data }));
}

/**
 * Changes a skill of the project; agents that have it work with the new prompt from their next call on.
 * @throws AppError NOT_FOUND; CONFLICT for a built-in skill, or a name that is taken
 */
export async function updateSkill(principal: ProjectPrincipal, input: UpdateSkillInput): Promise<Skill> {
  const { name, description, prompt, model } = input;
  const { id } = await ownSkill(principal, input.skill_id);
  await assertRoom(principal.project.id);
  return saveSkill(principal, "skill.update", name, async (tx) => {
    const data = { name, description, prompt, model: model || null };
    const [row] = await tx.skill.updateManyAndReturn({ where: { id }, data });
    if (!row) throw notFound("skill");
    return row;
  });
}

/**
 * Deletes a skill of the project.
 * @throws AppError NOT_FOUND; CONFLICT for a built-in skill, or naming the agents that have it
 */
export async function deleteSkill(principal: ProjectPrincipal, { skill_id }: { skill_id: string }): Promise<void> {
  const { id, name } = await ownSkill(principal, skill_id);
  await db().$transaction(async (tx) => {
    // agent_skills has no foreign key here, since built-in skills have no row: whoever links a skill locks its row too.
    await tx.$queryRaw`SELECT 1 FROM skills WHERE id = ${id}::uuid FOR UPDATE`;
    const agents = await tx.agent.findMany({
      where: { project_id: principal.project.id, skills: { some: { skill_id: id } } },
      select: { name: true },
      orderBy: { name: "asc" },
    });
    if (agents.length) throw new AppError("CONFLICT", `The skill is used by ${namesInUse("agent", agents)}. Take it out there first.`);
    const { count } = await tx.skill.deleteMany({ where: { id } });
    if (count === 0) throw notFound("skill");
    await recordAudit(tx, principal, { action: "skill.delete", resource_type: "skill", resource_id: id, resource_name: name });
  });
}
