import { expect, type Person, test } from "#e2e/fixtures.ts";
import { Skill, SkillPage } from "#server/features/skills/schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";

const NEVER = "019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10";

/** Calls a procedure of the web UI as this person's browser does; skills are made nowhere else. */
async function call({ browser, project }: Person, procedure: string, input: object) {
  const answer = await browser.post(`/api/trpc/${procedure}`, { data: input, headers: { "x-project-id": project.id } });
  const body = await answer.json();
  return { status: answer.status(), data: body.result?.data, error: body.error?.data };
}

const fields = { name: "House style", description: "How we write", prompt: "Write short sentences.", model: "" };

test("there are built-in skills worth having, each readable by id", async ({ api }) => {
  const { body } = await api.get("/skills?per_page=200", { schema: SkillPage, status: 200 });
  expect(body.total).toBe(body.items.length);
  expect(body.items.length).toBeGreaterThanOrEqual(8);
  expect(body.items.map(({ name }) => name)).toEqual(expect.arrayContaining(["Summarize", "Write SQL", "Review a contract"]));
  for (const skill of body.items) {
    expect(skill.source).toBe("builtin");
    expect((await api.get(`/skills/${skill.id}`, { schema: Skill, status: 200 })).body).toEqual(skill);
  }
});

test("a project's own skills come first; pages go on into the built-in ones", async ({ api, person }) => {
  const builtin = (await api.get("/skills", { schema: SkillPage })).body.items;
  const made = await call(person, "skills.create", fields);
  expect(made.status).toBe(200);
  const own = (await api.get(`/skills/${made.data.id}`, { schema: Skill, status: 200 })).body;
  expect(own).toEqual({
    id: own.id,
    name: "House style",
    description: "How we write",
    prompt: "Write short sentences.",
    source: "project",
  });
  const pages = [1, 2].map((page) => api.get(`/skills?per_page=2&page=${page}`, { schema: SkillPage, status: 200 }));
  const [first, second] = await Promise.all(pages);
  expect(first?.body).toEqual({ items: [own, builtin[0]], total: builtin.length + 1, page: 1, per_page: 2 });
  expect(second?.body.items).toEqual([builtin[1], builtin[2]]);
});

test("over REST skills are read-only: a write is 405 and says what there is", async ({ api }) => {
  const [skill] = (await api.get("/skills", { schema: SkillPage })).body.items;
  const answers = [
    await api.post("/skills", fields, { schema: ErrorBody, status: 405 }),
    await api.put(`/skills/${skill?.id}`, fields, { schema: ErrorBody, status: 405 }),
    await api.del(`/skills/${skill?.id}`, { schema: ErrorBody, status: 405 }),
  ];
  for (const { headers, body } of answers) {
    expect(headers.get("allow")).toContain("GET");
    expect(body.error_code).toBe("METHOD_NOT_ALLOWED");
  }
});

test("a skill of another project answers like one that never existed", async ({ person, newProject }) => {
  const { data: skill } = await call(person, "skills.create", fields);
  const other = await newProject();
  for (const id of [skill.id, NEVER, "no-uuid", "builtin:summarize"]) {
    const { body } = await other.api.get(`/skills/${id}`, { schema: ErrorBody, status: 404 });
    expect(body).toEqual({ detail: "There is no such skill in this project.", error_code: "NOT_FOUND", status: 404 });
  }
  const { body } = await other.api.get("/skills", { schema: SkillPage });
  expect(body.items.every(({ source }) => source === "builtin")).toBe(true);
  expect((await call(other, "skills.delete", { skill_id: skill.id })).error).toMatchObject({ error_code: "NOT_FOUND" });
});

test("viewers read skills and cannot write them; editors can", async ({ person, newUser }) => {
  const { data: skill } = await call(person, "skills.create", fields);
  const viewer = await newUser({ role: "viewer" });
  expect((await viewer.api.get(`/skills/${skill.id}`, { schema: Skill })).body.name).toBe("House style");
  for (const answer of [
    await call(viewer, "skills.create", { ...fields, name: "Mine" }),
    await call(viewer, "skills.update", { skill_id: skill.id, ...fields, name: "Mine" }),
    await call(viewer, "skills.delete", { skill_id: skill.id }),
  ])
    expect(answer).toMatchObject({ status: 403, error: { error_code: "PERMISSION_DENIED" } });
  const editor = await newUser({ role: "editor" });
  const changed = await call(editor, "skills.update", { skill_id: skill.id, ...fields, prompt: "Write shorter." });
  expect(changed).toMatchObject({ status: 200, data: { prompt: "Write shorter." } });
  expect((await call(editor, "skills.delete", { skill_id: skill.id })).status).toBeLessThan(300);
});

test("a skill that an agent has is not deleted; the refusal names the agent", async ({ person, api, agent }) => {
  const { data: skill } = await call(person, "skills.create", fields);
  const scout = await agent({ name: "Scout", model: "echo", skill_ids: [skill.id] });
  const refused = await call(person, "skills.delete", { skill_id: skill.id });
  expect(refused).toMatchObject({ status: 409, error: { error_code: "CONFLICT" } });
  expect(refused.error.detail).toContain('the agent "Scout"');
  await api.put(`/agents/${scout.id}`, { skill_ids: [] }, { status: 200 });
  await call(person, "skills.delete", { skill_id: skill.id });
  await api.get(`/skills/${skill.id}`, { schema: ErrorBody, status: 404 });
});

test("a name that is taken, an unknown field and an empty prompt are refused", async ({ person }) => {
  await call(person, "skills.create", fields);
  expect((await call(person, "skills.create", fields)).error).toMatchObject({ status: 409, error_code: "CONFLICT" });
  expect((await call(person, "skills.create", { ...fields, name: "summarize" })).error).toMatchObject({ status: 409 });
  const refused = { status: 422, error_code: "VALIDATION_ERROR" };
  expect((await call(person, "skills.create", { ...fields, name: "B", promt: "" })).error).toMatchObject(refused);
  expect((await call(person, "skills.create", { ...fields, name: "B", prompt: " " })).error).toMatchObject(refused);
});

test("bad pages are refused", async ({ api }) => {
  for (const query of ["page=0", "per_page=201", "per_page=x", "source=builtin"])
    await api.get(`/skills?${query}`, { schema: ErrorBody, status: 422 });
});
