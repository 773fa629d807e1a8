import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { builtinSkills } from "#server/features/skills/builtin-skills.ts";
import { createSkill, deleteSkill, getSkill, listSkills, readSkills, updateSkill } from "#server/features/skills/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();

const fields = (name: string, more: object = {}) => ({ name, description: "", prompt: `Do ${name}.`, model: "", ...more });
const [summarize, extract] = builtinSkills;
if (!summarize || !extract) throw new Error("There are built-in skills.");

/** An agent of the project that has these skills. */
async function agentWith(admin: ProjectPrincipal, name: string, skill_ids: string[]) {
  const project_id = admin.project.id;
  const key = await db().llmKey.create({ data: { project_id, name, provider: "openai", sealed_key: "", masked_key: "" } });
  const skills = { create: skill_ids.map((skill_id) => ({ skill_id })) };
  return db().agent.create({ data: { project_id, name, model: "echo", llm_key_id: key.id, skills } });
}

test("built-in skills have ids of version 7 and names of their own, and come last, in their order", async () => {
  const admin = await database.newAdmin();
  for (const { id, description, prompt } of builtinSkills) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect([description.length > 0, prompt.length > 300]).toEqual([true, true]);
  }
  for (const field of ["id", "name"] as const) expect(new Set(builtinSkills.map((skill) => skill[field])).size).toBe(builtinSkills.length);
  const first = await createSkill(admin, fields("first"));
  const second = await createSkill(admin, fields("second"));
  const { items, total } = await listSkills(admin, { page: 1, per_page: 200 });
  expect(items).toEqual([second, first, ...builtinSkills]);
  expect(total).toBe(builtinSkills.length + 2);
});

test("pages of any size add up to the same list", async () => {
  const admin = await database.newAdmin();
  for (const name of ["a", "b", "c", "d", "e"]) await createSkill(admin, fields(name));
  const whole = (await listSkills(admin, { page: 1, per_page: 200 })).items;
  for (const per_page of [1, 3, 4, 5, 7, whole.length]) {
    const pages = Math.ceil(whole.length / per_page) + 1;
    const lists = await Promise.all(Array.from({ length: pages }, (_, index) => listSkills(admin, { page: index + 1, per_page })));
    expect(lists.flatMap(({ items }) => items)).toEqual(whole);
    expect(lists.every(({ items }) => items.length <= per_page)).toBe(true);
  }
});

test("a skill is changed and deleted, each with an audit entry", async () => {
  const admin = await database.newAdmin();
  const skill = await createSkill(admin, fields("tidy", { model: "gpt-x" }));
  expect(skill).toEqual({ id: skill.id, name: "tidy", description: "", prompt: "Do tidy.", model: "gpt-x", source: "project" });
  const changed = await updateSkill(admin, { skill_id: skill.id, ...fields("tidy up", { description: "Order" }) });
  expect(changed).toEqual({ id: skill.id, name: "tidy up", description: "Order", prompt: "Do tidy up.", source: "project" });
  expect(await getSkill(admin, { skill_id: skill.id })).toEqual(changed);
  await deleteSkill(admin, { skill_id: skill.id });
  await expect(getSkill(admin, { skill_id: skill.id })).rejects.toMatchObject({ code: "NOT_FOUND" });
  const audit = await db().auditEntry.findMany({ where: { project_id: admin.project.id }, orderBy: { id: "asc" } });
  expect(audit.map(({ action, resource_name }) => [action, resource_name])).toEqual([
    ["skill.create", "tidy"],
    ["skill.update", "tidy up"],
    ["skill.delete", "tidy up"],
  ]);
});

test("names are used once in a project, and those of built-in skills never", async () => {
  const [admin, other] = [await database.newAdmin(), await database.newAdmin()];
  const skill = await createSkill(admin, fields("tidy"));
  await createSkill(other, fields("tidy"));
  await createSkill(admin, fields("sweep"));
  const conflict = { code: "CONFLICT" };
  await expect(createSkill(admin, fields("tidy"))).rejects.toMatchObject(conflict);
  await expect(updateSkill(admin, { skill_id: skill.id, ...fields("sweep") })).rejects.toMatchObject(conflict);
  await expect(createSkill(admin, fields(summarize.name.toUpperCase()))).rejects.toMatchObject(conflict);
  expect(await getSkill(admin, { skill_id: skill.id })).toEqual(skill);
});

test("built-in skills are not changed or deleted, and others' are not there", async () => {
  const [admin, other] = [await database.newAdmin(), await database.newAdmin()];
  const theirs = await createSkill(other, fields("theirs"));
  for (const [skill_id, code] of [
    [summarize.id, "CONFLICT"],
    [theirs.id, "NOT_FOUND"],
    ["no-uuid", "NOT_FOUND"],
  ] as const) {
    await expect(updateSkill(admin, { skill_id, ...fields("mine") })).rejects.toMatchObject({ code });
    await expect(deleteSkill(admin, { skill_id })).rejects.toMatchObject({ code });
  }
  expect(await getSkill(other, { skill_id: theirs.id })).toEqual(theirs);
});

test("a skill that agents have is not deleted; the refusal names them", async () => {
  const admin = await database.newAdmin();
  const skill = await createSkill(admin, fields("tidy"));
  const agents = [await agentWith(admin, "Scout", [skill.id, summarize.id]), await agentWith(admin, "Archivist", [skill.id])];
  await expect(deleteSkill(admin, { skill_id: skill.id })).rejects.toMatchObject({
    code: "CONFLICT",
    message: 'The skill is used by the agents "Archivist" and "Scout". Take it out there first.',
  });
  await db().agent.deleteMany({ where: { id: { in: agents.map(({ id }) => id) } } });
  await deleteSkill(admin, { skill_id: skill.id });
});

test("skills are read by id in the order asked for, without those that the project does not have", async () => {
  const [admin, other] = [await database.newAdmin(), await database.newAdmin()];
  const [own, theirs] = [await createSkill(admin, fields("own")), await createSkill(other, fields("theirs"))];
  const ids = [extract.id, own.id.toUpperCase(), theirs.id, randomUUID(), "nonsense", summarize.id, own.id];
  expect(await readSkills(admin.project.id, ids)).toEqual([extract, own, summarize]);
});
