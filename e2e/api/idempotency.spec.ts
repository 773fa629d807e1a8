import { randomUUID } from "node:crypto";
import { expect, type Person, test } from "#e2e/fixtures.ts";

const keyed = (key: string = randomUUID()) => ({ "Idempotency-Key": key });
const node = (id: string, type: string, data: Record<string, unknown>) => ({ id, type, position: { x: 0, y: 0 }, data });
const httpGraph = (response_mode: "sync" | "async") => ({
  nodes: [
    node("t", "triggerNode", { label: "Start", kind: "http", response_mode, allowed_methods: ["POST", "GET"] }),
    node("o", "outputNode", { label: "Out", value: "{{trigger.output.body.n}}" }),
  ],
  edges: [{ id: "e", source: "t", target: "o" }],
});

/** Sends as it is written, and gives the body as it came. */
async function send({ api }: Person, baseURL: string, method: string, path: string, body: string, headers: Record<string, string>) {
  const answer = await fetch(`${baseURL}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${api.key}`, "content-type": "application/json", ...headers },
    ...(body && { body }),
  });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}

test("the same key and body give the same answer again, and nothing twice", async ({ api }) => {
  const headers = keyed();
  const first = await api.post("/projects", { name: "Once", slug: "once" }, { status: 201, headers });
  expect(first.headers.get("idempotent-replayed")).toBeNull();
  const again = await api.post("/projects", { slug: "once", name: "Once" }, { status: 201, headers });
  expect([again.body, again.headers.get("idempotent-replayed")]).toEqual([first.body, "true"]);
  expect(again.headers.get("content-type")).toBe("application/json");
  expect((await api.get("/projects")).body.total).toBe(2);
  const other = await api.post("/projects", { name: "Other" }, { status: 409, headers });
  expect(other.body).toEqual({ detail: expect.stringContaining("another request"), error_code: "CONFLICT", status: 409 });
  await api.post("/projects", { name: "Other" }, { status: 201, headers: keyed() });
});

test("a secret that is shown once is shown again to whoever repeats the request", async ({ api }) => {
  const headers = keyed();
  const { body: first } = await api.post("/platform-keys", { name: "CI" }, { status: 201, headers });
  expect(first.key).toMatch(/^sk-service-/);
  expect((await api.post("/platform-keys", { name: "CI" }, { status: 201, headers })).body).toEqual(first);
});

test("twenty executes with one key at once start one run", async ({ api, workflow, finished }) => {
  const { id } = await workflow({ name: "Raced" });
  const headers = keyed();
  const answers = await Promise.all(Array.from({ length: 20 }, () => api.post(`/workflows/${id}/execute`, { input: "x" }, { headers })));
  const started = answers.filter(({ status }) => status === 202);
  expect(started.length).toBeGreaterThan(0);
  for (const { status, body, headers: told } of answers) {
    if (status === 202) expect(body).toEqual(started[0]?.body);
    else expect([status, body.error_code, told.get("retry-after")]).toEqual([409, "CONFLICT", "1"]);
  }
  expect((await api.post(`/workflows/${id}/execute`, { input: "x" }, { status: 202, headers })).body).toEqual(started[0]?.body);
  await finished(started[0]?.body.execution_id);
  expect((await api.get(`/workflows/${id}/executions`)).body).toHaveLength(1);
  await api.post(`/workflows/${id}/execute`, { input: "y" }, { status: 409, headers });
});

test("twenty creations with one key at once make one resource", async ({ api }) => {
  const headers = keyed();
  const answers = await Promise.all(Array.from({ length: 20 }, () => api.post("/workflows", { name: "Raced" }, { headers })));
  const made = answers.filter(({ status }) => status === 201);
  expect(new Set(made.map(({ body }) => body.id)).size).toBe(1);
  expect(answers.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
  expect((await api.get("/workflows")).body.total).toBe(1);
});

test("a key belongs to a user, a project and an operation", async ({ api, person, newUser, newProject, workflow }) => {
  const { id } = await workflow({ name: "Shared" });
  const headers = keyed();
  const execute = async (by: Person["api"]) => (await by.post(`/workflows/${id}/execute`, {}, { status: 202, headers })).body.execution_id;
  const mine = await execute(api);
  const editor = await newUser({ role: "editor" });
  expect(await execute(editor.api)).not.toBe(mine);
  const other = await newProject();
  await other.api.post("/workflows", { name: "Elsewhere" }, { status: 201, headers });
  await api.post("/workflows", { name: "Here" }, { status: 201, headers });
  // Another resource is another request, also with the same body.
  const { id: second } = await workflow({ name: "Second" });
  await api.post(`/workflows/${second}/execute`, {}, { status: 409, headers });
  // The same user in another project.
  const { body: project } = await api.post("/projects", { name: "Second project" }, { status: 201 });
  const inSecond = await api.post("/workflows", { name: "Here" }, { status: 201, headers: { ...headers, "X-Project-ID": project.id } });
  expect(inSecond.headers.get("idempotent-replayed")).toBeNull();
  expect(person.project.id).not.toBe(project.id);
});

test("a refusal is the same refusal again, and what may go better is tried again", async ({ api, newUser, person }) => {
  const refused = keyed();
  const first = await api.post("/workflows", { nmae: "x" }, { status: 422, headers: refused });
  const again = await api.post("/workflows", { nmae: "x" }, { status: 422, headers: refused });
  expect([again.body, again.headers.get("idempotent-replayed")]).toEqual([first.body, "true"]);

  const viewer = await newUser({ role: "viewer" });
  const denied = keyed();
  for (const _ of [1, 2]) {
    const answer = await viewer.api.post("/workflows", { name: "Mine" }, { status: 403, headers: denied });
    expect(answer.headers.get("idempotent-replayed")).toBeNull();
  }
  await person.api.post(`/projects/${person.project.id}/members`, { email: viewer.email, role: "editor" });
  await viewer.api.post("/workflows", { name: "Mine" }, { status: 201, headers: denied });
  // Whoever may no longer do it is not shown the answer of before either.
  await person.api.post(`/projects/${person.project.id}/members`, { email: viewer.email, role: "viewer" });
  await viewer.api.post("/workflows", { name: "Mine" }, { status: 403, headers: denied });
});

test("a failure of a model's vendor is not kept", async ({ api, llmKey, modelServer }) => {
  const { id: llm_key_id } = await llmKey();
  const headers = keyed();
  const agent = { name: "Later", llm_key_id, model: "echo" };
  const { body: broken } = await api.post("/llm-keys", {
    name: "Broken",
    provider: "openai_compatible",
    api_key: "k",
    base_url: `${modelServer.url}/nowhere`,
  });
  for (const _ of [1, 2]) {
    const answer = await api.post("/agents", { ...agent, llm_key_id: broken.id }, { status: 502, headers });
    expect(answer.headers.get("idempotent-replayed")).toBeNull();
  }
  const made = await api.post("/agents", agent, { status: 201, headers });
  expect((await api.post("/agents", agent, { status: 201, headers })).body).toEqual(made.body);
});

for (const [what, key] of [
  ["an empty key", ""],
  ["a key with a space", "a b"],
  ["a key that is too long", "k".repeat(256)],
  ["a key beyond ASCII", "schl\u00fcssel"],
] as const)
  test(`${what} is refused`, async ({ api }) => {
    const { body } = await api.post("/workflows", { name: "x" }, { status: 422, headers: keyed(key) });
    expect(body).toMatchObject({ error_code: "VALIDATION_ERROR", errors: [{ path: "Idempotency-Key" }] });
    expect((await api.get("/workflows")).body.total).toBe(0);
  });

test("a key of 255 characters is taken, and none means anything on a GET or a PUT", async ({ api }) => {
  const headers = keyed("~".repeat(255));
  const { body } = await api.post("/workflows", { name: "x" }, { status: 201, headers });
  await api.put(`/workflows/${body.id}`, { name: "y" }, { status: 200, headers });
  expect((await api.put(`/workflows/${body.id}`, { name: "z" }, { status: 200, headers })).body.name).toBe("z");
  expect((await api.get("/workflows", { headers })).headers.get("idempotent-replayed")).toBeNull();
});

test("an HTTP trigger runs once for a key, synchronous or not", async ({ person, workflow, baseURL, api }) => {
  for (const mode of ["sync", "async"] as const) {
    const { id } = await workflow({ name: mode, ...httpGraph(mode) });
    const headers = keyed();
    const call = (method: string, body: string, query = "") => send(person, baseURL, method, `/http/${id}${query}`, body, headers);
    const answers = await Promise.all(Array.from({ length: 8 }, () => call("POST", '{"n":"7"}')));
    const first = answers.find(({ status }) => status < 300);
    expect(first?.status).toBe(mode === "sync" ? 200 : 202);
    for (const { status, text } of answers) expect(status === 409 || text === first?.text, text).toBe(true);
    const again = await call("POST", '{"n":"7"}');
    expect([again.status, again.text, again.headers.get("idempotent-replayed")]).toEqual([first?.status, first?.text, "true"]);
    expect((await call("POST", '{"n":"8"}')).status).toBe(409);
    expect((await call("POST", '{"n":"7"}', "?q=1")).status).toBe(409);
    expect((await api.get(`/workflows/${id}/executions`)).body).toHaveLength(1);
    // Its output reads the body, which a GET does not have.
    expect((await call("GET", "")).status).toBe(mode === "sync" ? 502 : 202);
    expect((await api.get(`/workflows/${id}/executions`)).body).toHaveLength(2);
  }
});

test("a rerun and a webhook's set-up are made once for a key", async ({ api, workflow, finished }) => {
  const { id } = await workflow({ name: "Again" });
  const { body } = await api.post(`/workflows/${id}/execute`, {}, { status: 202 });
  await finished(body.execution_id);
  const headers = keyed();
  const rerun = () => api.post(`/executions/${body.execution_id}/rerun`, {}, { status: 202, headers });
  const first = await rerun();
  expect((await rerun()).body).toEqual(first.body);
  expect((await api.get(`/workflows/${id}/executions`)).body).toHaveLength(2);

  const data = { label: "Start", kind: "webhook" };
  const { id: hooked } = await workflow({ name: "Hooked", nodes: [node("t", "triggerNode", data) as never], edges: [] });
  const setUp = async () => (await api.post(`/webhooks/setup/${hooked}`, {}, { status: 200, headers })).body.webhook_secret;
  expect(await setUp()).toBe(await setUp());
});
