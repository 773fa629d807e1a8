import { createHmac, randomUUID } from "node:crypto";
import { expect, test } from "#e2e/fixtures.ts";
import { HttpTriggerError, HttpTriggerResult } from "#server/features/http-trigger/schema.ts";
import { WebhookSetup } from "#server/features/webhooks/schema.ts";
import { UpdatedWorkflow, Workflow } from "#server/features/workflows/schema.ts";
import { ExecuteResult, ExecutionSummary } from "#server/runs/schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";

const position = { x: 0, y: 0 };
const trigger = (kind: string, data = {}) => ({ id: "t", type: "triggerNode", position, data: { label: "Start", kind, ...data } });
const output = { id: "o", type: "outputNode", position, data: { label: "o" } };
const edges = [{ id: "t-o", source: "t", target: "o" }];
const sign = (body: string, secret: string) => `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

/** A call as a sender makes it: raw bytes, no key. */
async function post(url: string, body: string, headers: Record<string, string>) {
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

test.describe("webhook", () => {
  test("setup, a signed call, its run, and rotation", async ({ api, workflow, finished, baseURL }) => {
    const flow = await workflow({ nodes: [trigger("webhook", { payload_path: "$.issue.title" }), output], edges });
    const { body: setup } = await api.post(`/webhooks/setup/${flow.id}`, undefined, { schema: WebhookSetup, status: 200 });
    expect(setup.webhook_url).toContain(`/api/v1/webhooks/${flow.id}`);
    const body = '{"issue": {"title": "It is broken"}}\n';
    const headers = { "X-SERVICE-Signature": sign(body, setup.webhook_secret) };
    const answer = await post(`${baseURL}/api/v1/webhooks/${flow.id}`, body, headers);
    expect(answer).toMatchObject({ status: 202, body: { status: "queued" } });
    expect(ExecuteResult.parse(answer.body)).toEqual(answer.body);
    expect(await finished(answer.body.execution_id)).toMatchObject({
      status: "completed",
      trigger: "webhook",
      input: "It is broken",
      output: "It is broken",
      started_by: null,
    });
    // The path without the version is the same one.
    expect((await post(`${baseURL}/webhooks/${flow.id}`, body, headers)).status).toBe(202);

    const { body: rotated } = await api.post(`/webhooks/setup/${flow.id}`, {}, { schema: WebhookSetup });
    expect(rotated.webhook_secret).not.toBe(setup.webhook_secret);
    expect((await post(`${baseURL}/webhooks/${flow.id}`, body, headers)).status).toBe(401);
  });

  test("answers one 401 without the secret, and says what is wrong with it", async ({ api, workflow, baseURL }) => {
    const flow = await workflow({ nodes: [trigger("webhook"), output], edges });
    const { body: setup } = await api.post(`/webhooks/setup/${flow.id}`, {}, { schema: WebhookSetup });
    const url = `${baseURL}/api/v1/webhooks`;
    const signed = (body: string) => post(`${url}/${flow.id}`, body, { "X-SERVICE-Signature": sign(body, setup.webhook_secret) });
    const wrong = { "X-SERVICE-Signature": sign("{}", "another") };
    const refusals = [
      await post(`${url}/${flow.id}`, "{}", {}),
      await post(`${url}/${flow.id}`, "{}", wrong),
      await post(`${url}/${flow.id}`, "{}", { ...wrong, authorization: `Bearer ${api.key}` }),
      await post(`${url}/${flow.id}`, "not json", wrong),
      await post(`${url}/${randomUUID()}`, "{}", wrong),
      await post(`${url}/nonsense`, "{}", wrong),
    ];
    for (const { status, body } of refusals) {
      expect(status).toBe(401);
      expect(body).toEqual(refusals[0]?.body);
    }
    expect(refusals[0]?.body.error_code).toBe("AUTH_REQUIRED");
    expect(await signed("not json")).toMatchObject({ status: 400, body: { error_code: "BAD_REQUEST" } });
    expect(await signed(JSON.stringify({ text: "x".repeat(4 * 1024 * 1024) }))).toMatchObject({ status: 413 });
    await api.put(`/workflows/${flow.id}`, { enabled: false }, { status: 200 });
    expect(await signed("{}")).toMatchObject({ status: 409, body: { error_code: "CONFLICT" } });
    const [known, unknown] = await Promise.all([flow.id, randomUUID()].map((id) => fetch(`${url}/${id}`)));
    expect([known?.status, unknown?.status]).toEqual([401, 401]);
    expect(await known?.json()).toEqual(await unknown?.json());
    const put = await fetch(`${url}/${flow.id}`, { method: "PUT" });
    expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, HEAD, POST, OPTIONS"]);
  });

  test("a repeated delivery starts nothing", async ({ api, workflow, baseURL }) => {
    const flow = await workflow({ nodes: [trigger("webhook"), output], edges });
    const { body: setup } = await api.post(`/webhooks/setup/${flow.id}`, {}, { schema: WebhookSetup });
    const send = (n: number) => {
      const body = JSON.stringify({ n });
      const headers = { "X-SERVICE-Signature": sign(body, setup.webhook_secret), "Idempotency-Key": "order-7" };
      return post(`${baseURL}/api/v1/webhooks/${flow.id}`, body, headers);
    };
    const answers = await Promise.all([1, 2, 3, 4, 5].map(send));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.execution_id}`)).size).toBe(1);
    const { body: runs } = await api.get(`/workflows/${flow.id}/executions`, { schema: ExecutionSummary.array() });
    expect(runs).toHaveLength(1);
  });

  test("setting up needs a webhook trigger, an editor and the project", async ({ api, workflow, newUser, newProject }) => {
    const manual = await workflow({ nodes: [trigger("manual")], edges: [] });
    await api.post(`/webhooks/setup/${manual.id}`, {}, { schema: ErrorBody, status: 422 });
    const flow = await workflow({ nodes: [trigger("webhook")], edges: [] });
    const [viewer, stranger] = [await newUser({ role: "viewer" }), await newProject()];
    await viewer.api.post(`/webhooks/setup/${flow.id}`, {}, { schema: ErrorBody, status: 403 });
    await stranger.api.post(`/webhooks/setup/${flow.id}`, {}, { schema: ErrorBody, status: 404 });
    await api.post("/webhooks/setup/nonsense", {}, { schema: ErrorBody, status: 404 });
    // The sender's own secret, as it stands; one that anybody would guess is refused.
    const own = { webhook_secret: "made by the sender" };
    expect((await api.post(`/webhooks/setup/${flow.id}`, own, { schema: WebhookSetup })).body).toMatchObject(own);
    await api.post(`/webhooks/setup/${flow.id}`, { webhook_secret: "short" }, { schema: ErrorBody, status: 422 });
  });

  test("a payload path that cannot be read is refused at save", async ({ api }) => {
    const nodes = [trigger("webhook", { payload_path: "issue.title" })];
    const { body } = await api.post("/workflows", { name: "Bad", nodes, edges: [] }, { schema: ErrorBody, status: 422 });
    expect(body.errors?.[0]?.path).toBe("nodes.0.data.payload_path");
  });
});

test.describe("HTTP trigger", () => {
  const http = (data = {}) => [trigger("http", { allowed_methods: ["POST", "GET"], response_mode: "sync", ...data }), output];

  test("sync answers with the output: method, headers, query and body", async ({ api, workflow, baseURL }) => {
    const flow = await workflow({ nodes: http(), edges });
    const { body } = await api.post(
      `/http/${flow.id}?city=Oslo`,
      { a: 1 },
      { schema: HttpTriggerResult, status: 200, headers: { "x-order": "7", cookie: "a=b" } },
    );
    expect(body.status).toBe("completed");
    const call = JSON.parse(body.output ?? "");
    expect(call).toMatchObject({ method: "POST", query: { city: "Oslo" }, body: { a: 1 }, headers: { "x-order": "7" } });
    expect(Object.keys(call.headers).filter((name) => /authorization|cookie|treadle/.test(name))).toEqual([]);
    expect(body.output).not.toContain(api.key);
    const { body: got } = await api.get(`/http/${flow.id}`, { schema: HttpTriggerResult, status: 200 });
    expect(JSON.parse(got.output ?? "")).toMatchObject({ method: "GET", body: null });
    const refused = await fetch(`${baseURL}/api/v1/http/${flow.id}`, { method: "PUT", headers: { authorization: `Bearer ${api.key}` } });
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "POST, GET"]);
  });

  test("a synchronous call whose run waits for somebody is answered with where it is, and the run goes on", async ({
    api,
    workflow,
    finished,
  }) => {
    const review = { id: "r", type: "humanLoopNode", position, data: { label: "Check" } };
    const ways = [
      { id: "e1", source: "t", target: "r" },
      { id: "e2", source: "r", target: "o", sourceHandle: "approved" },
    ];
    const flow = await workflow({ nodes: [...http(), review] as Workflow["nodes"], edges: ways });
    const { body } = await api.post(`/http/${flow.id}`, {}, { schema: HttpTriggerResult, status: 202 });
    expect(body).toEqual({ execution_id: expect.any(String), status: "paused" });
    await api.post(`/executions/${body.execution_id}/approve`, { decision: "approved" }, { status: 200 });
    expect(await finished(body.execution_id)).toMatchObject({ status: "completed", trigger: "http" });
  });

  test("async answers at once, and the run is an http one", async ({ api, workflow, finished, person }) => {
    const flow = await workflow({ nodes: http({ response_mode: "async" }), edges });
    const { body } = await api.post(`/http/${flow.id}`, { a: 1 }, { schema: HttpTriggerResult, status: 202 });
    expect(body).toEqual({ execution_id: expect.any(String), status: "pending" });
    expect(await finished(body.execution_id)).toMatchObject({ status: "completed", trigger: "http", started_by: { id: person.id } });
  });

  test("sync answers 502 with the reason of a failed run", async ({ api, workflow }) => {
    const nodes = [http()[0], { ...output, data: { label: "o", value: "{{trigger.output.body.missing}}" } }] as Workflow["nodes"];
    const flow = await workflow({ nodes, edges });
    const { body } = await api.post(`/http/${flow.id}`, {}, { schema: HttpTriggerError, status: 502 });
    expect(body).toMatchObject({ error_code: "UPSTREAM_ERROR", run_status: "failed", detail: expect.stringContaining("missing") });
  });

  test("it needs a key, an editor, the project, an HTTP trigger that is on, and no problem", async ({
    api,
    workflow,
    newUser,
    newProject,
    baseURL,
  }) => {
    const flow = await workflow({ nodes: http(), edges });
    expect((await fetch(`${baseURL}/api/v1/http/${flow.id}`)).status).toBe(401);
    const [viewer, stranger] = [await newUser({ role: "viewer" }), await newProject()];
    await viewer.api.post(`/http/${flow.id}`, {}, { schema: ErrorBody, status: 403 });
    const { body: hidden } = await stranger.api.post(`/http/${flow.id}`, {}, { schema: ErrorBody, status: 404 });
    const { body: missing } = await stranger.api.post(`/http/${randomUUID()}`, {}, { schema: ErrorBody, status: 404 });
    expect(hidden).toEqual(missing);
    await api.post("/http/nonsense", {}, { schema: ErrorBody, status: 404 });
    const manual = await workflow({ nodes: [trigger("manual")], edges: [] });
    await api.post(`/http/${manual.id}`, {}, { schema: ErrorBody, status: 422 });
    const broken = await workflow({ nodes: [...http(), { id: "a", type: "agentNode", position, data: { label: "Nobody" } }], edges });
    const { body } = await api.post(`/http/${broken.id}`, {}, { schema: ErrorBody, status: 422 });
    expect(body.errors).toEqual([{ path: "a.agent_id", message: "Choose an agent." }]);
    await api.put(`/workflows/${flow.id}`, { enabled: false }, { status: 200 });
    await api.post(`/http/${flow.id}`, {}, { schema: ErrorBody, status: 409 });
  });

  test("without a project header the workflow says which project is meant", async ({ workflow, newUser, baseURL }) => {
    const flow = await workflow({ nodes: http(), edges });
    const editor = await newUser({ role: "editor" }); // in two projects
    const call = (headers = {}) =>
      fetch(`${baseURL}/api/v1/http/${flow.id}`, { method: "POST", headers: { authorization: `Bearer ${editor.api.key}`, ...headers } });
    expect((await call()).status).toBe(200);
    const other = (await (await fetch(`${baseURL}/api/v1/users/me`, { headers: { authorization: `Bearer ${editor.api.key}` } })).json())
      .projects;
    const own = other.find((project: { id: string }) => project.id !== editor.project.id);
    expect((await call({ "x-project-id": editor.project.id })).status).toBe(200);
    expect((await call({ "x-project-id": own.id })).status).toBe(404);
    expect((await call({ "x-project-slug": own.slug, "x-project-id": editor.project.id })).status).toBe(404);
    expect((await call({ "x-project-id": randomUUID() })).status).toBe(404);
  });

  test("a session starts a run from our own pages only, and none by GET, which a picture in them would send", async ({
    person,
    workflow,
    baseURL,
  }) => {
    const flow = await workflow({ nodes: http(), edges });
    const call = async (method: string, headers: Record<string, string>) =>
      (await person.browser.fetch(`/api/v1/http/${flow.id}`, { method, headers })).status();
    const own = { origin: baseURL ?? "", "sec-fetch-site": "same-origin" };
    expect(await call("POST", { origin: "https://elsewhere.example", "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await call("POST", { ...own, "sec-fetch-dest": "image" })).toBe(403);
    for (const method of ["GET", "HEAD"]) expect(await call(method, own)).toBe(403);
    expect(await call("POST", { ...own, "sec-fetch-dest": "empty" })).toBe(200);
  });
});

test("execute works whatever the trigger is, on a disabled workflow too", async ({ workflow, executed }) => {
  for (const data of [
    { kind: "webhook" },
    { kind: "http" },
    { kind: "schedule", cron_expression: "0 9 * * *", default_input: "default" },
  ]) {
    const flow = await workflow({ nodes: [trigger(data.kind, data), output], edges, enabled: false });
    expect(await executed(flow, { input: "by hand" })).toMatchObject({ status: "completed", trigger: "api", output: "by hand" });
    expect(await executed(flow, {})).toMatchObject({ output: data.kind === "schedule" ? "default" : "" });
  }
});

test.describe("schedule", () => {
  const daily = { cron_expression: "30 9 * * 1-5", timezone: "Europe/Berlin", default_input: "good morning" };

  test("a save shows the next five fires, and the endpoint switches it off, on and to other times", async ({ api, workflow }) => {
    const flow = await workflow({ nodes: [trigger("schedule", daily), output], edges });
    expect(flow.schedule).toMatchObject({ enabled: true, ...daily });
    expect(flow.schedule?.next_fires).toHaveLength(5);
    expect(flow.schedule?.next_fires.every((time) => Date.parse(time) > Date.now())).toBe(true);
    const set = async (body: object) => (await api.put(`/workflows/${flow.id}/schedule`, body, { schema: Workflow })).body;
    expect(await set({ enabled: false })).toMatchObject({ version: 2, schedule: { enabled: false, next_fires: [], ...daily } });
    const changed = await set({ enabled: true, cron_expression: "0 0 1 * *", timezone: "UTC", default_input: "" });
    expect(changed.nodes[0]?.data).toMatchObject({ kind: "schedule", active: true, cron_expression: "0 0 1 * *", timezone: "UTC" });
    expect(changed.schedule?.next_fires.every((time) => time.endsWith("-01T00:00:00.000Z"))).toBe(true);
    const { body: disabled } = await api.put(`/workflows/${flow.id}`, { enabled: false }, { schema: UpdatedWorkflow });
    expect(disabled.schedule).toMatchObject({ enabled: true, next_fires: [] });
  });

  test("times that cannot be kept are 422 at save and at the endpoint, and change nothing", async ({ api, workflow }) => {
    const flow = await workflow({ nodes: [trigger("schedule", daily), output], edges });
    for (const cron_expression of ["*/4 * * * *", "0,2 * * * *", "every day", "* * * * * *"]) {
      const nodes = [trigger("schedule", { cron_expression })];
      const { body } = await api.post("/workflows", { name: "Often", nodes, edges: [] }, { schema: ErrorBody, status: 422 });
      expect(body.errors?.[0]?.path).toBe("nodes.0.data.cron_expression");
      await api.put(`/workflows/${flow.id}/schedule`, { enabled: true, cron_expression }, { schema: ErrorBody, status: 422 });
    }
    // The endpoint names the fields of its own body.
    for (const wrong of [
      { cron_expression: "0 9 32 * *" },
      { cron_expression: "" },
      { timezone: "Mars/Olympus" },
      { timezone: "+05:00" },
    ]) {
      const asked = { enabled: true, ...wrong };
      const { body } = await api.put(`/workflows/${flow.id}/schedule`, asked, { schema: ErrorBody, status: 422 });
      expect(body.errors?.map(({ path }) => path)).toEqual(Object.keys(wrong));
    }
    await api.put(`/workflows/${flow.id}/schedule`, { cron_expression: "0 9 * * *" }, { schema: ErrorBody, status: 422 });
    const { body } = await api.get(`/workflows/${flow.id}`, { schema: Workflow });
    expect(body).toMatchObject({ version: 1, schedule: daily });
  });

  test("it is for schedule triggers, editors and members only", async ({ api, workflow, newUser, newProject }) => {
    const manual = await workflow({ nodes: [trigger("manual")], edges: [] });
    await api.put(`/workflows/${manual.id}/schedule`, { enabled: true }, { schema: ErrorBody, status: 422 });
    const flow = await workflow({ nodes: [trigger("schedule", daily)], edges: [] });
    const [viewer, stranger] = [await newUser({ role: "viewer" }), await newProject()];
    await viewer.api.put(`/workflows/${flow.id}/schedule`, { enabled: false }, { schema: ErrorBody, status: 403 });
    await stranger.api.put(`/workflows/${flow.id}/schedule`, { enabled: false }, { schema: ErrorBody, status: 404 });
  });
});
