import type { APIRequestContext } from "@playwright/test";
import { newHost, newProject, newUser, type Project } from "#e2e/api/people.ts";
import { readEvents, type WireEvent } from "#e2e/api/read-stream.ts";
import { type ModelServer, startModelServer } from "#e2e/fakes/model-server.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { until } from "#e2e/until.ts";
import { AgentReply, ChatEvent } from "#server/features/agents/schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";

const baseURL = process.env.BASE_URL ?? "";

let models: ModelServer;
let host: APIRequestContext;
test.beforeAll(async () => {
  models = await startModelServer();
  ({ api: host } = await newHost());
});
test.afterAll(() => models.stop());

interface World {
  api: APIRequestContext;
  project: Project;
  /** The key of that client, for plain fetch. */
  key: string;
  /** Makes an agent and gives its chat's address. */
  agent(more?: object): Promise<string>;
}

async function newWorld(): Promise<World> {
  const project = await newProject(host);
  const { api } = await newUser(host, project, "admin");
  const { key } = await (await api.post("/api/v1/platform-keys", { data: { name: "stream" } })).json();
  const llm = { name: "Main", provider: "openai_compatible", api_key: "test-key-0123456789", base_url: models.url };
  const { id: llm_key_id } = await (await api.post("/api/v1/llm-keys", { data: llm })).json();
  return {
    api,
    project,
    key,
    async agent(more = {}) {
      const answer = await api.post("/api/v1/agents", { data: { name: "Scout", model: "echo", llm_key_id, ...more } });
      expect(answer.status(), await answer.text()).toBe(201);
      return `/api/v1/agents/${(await answer.json()).id}/chat`;
    },
  };
}

const ask = (world: World, path: string, body: object, signal?: AbortSignal): Promise<Response> =>
  fetch(`${baseURL}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });

/** A source of knowledge, whose search is a tool that needs nothing of the outside. */
async function newRag({ api }: World): Promise<string> {
  const answer = await api.post("/api/v1/rags", { data: { name: "Handbook", type: "documents" } });
  expect(answer.status(), await answer.text()).toBe(201);
  return (await answer.json()).id;
}

const pieces = (events: WireEvent[]) => events.flatMap(({ event, data }) => (event === "delta" ? [data.content] : []));

test("a chat streams the answer in numbered events and ends with the tokens", async () => {
  const world = await newWorld();
  const response = await ask(world, await world.agent(), { message: "hello there" });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  expect(response.headers.get("cache-control")).toContain("no-store");
  expect(response.headers.get("x-accel-buffering")).toBe("no");
  const events = await readEvents(response);
  expect(pieces(events).join("")).toBe("Echo: hello there");
  expect(pieces(events).length).toBeGreaterThan(1);
  expect(events.at(-1)).toMatchObject({ event: "done", data: { input_tokens: 2, output_tokens: 3 } });
  expect(events.map(({ id }) => Number(id))).toEqual(events.map((_, index) => index + 1));
  for (const { event, data } of events) expect(ChatEvent.parse(data).type).toBe(event);
});

test("without a stream the whole answer comes as JSON, after the earlier turns", async () => {
  const world = await newWorld();
  const path = await world.agent({ system_prompt: "Be brief." });
  const history = [
    { role: "user", content: "hi" },
    { role: "assistant", content: "yes?" },
    { role: "assistant", content: "" },
  ];
  const message = `what now ${world.project.id}`;
  const answer = await world.api.post(path, { data: { message, history, stream: false } });
  expect(AgentReply.parse(await answer.json())).toEqual({
    response: `Echo: ${message}`,
    model: "echo",
    provider: "openai_compatible",
    input_tokens: 7,
    output_tokens: 4,
    cost: null,
    tool_calls: [],
    agent_version: 1,
  });
  expect(models.calls({ contains: message })[0]?.request.messages.map(({ role, content }) => [role, content])).toEqual([
    ["system", "Be brief."],
    ["user", "hi"],
    ["assistant", "yes?"],
    ["user", message],
  ]);
});

test("tool calls and their results are told between the pieces, and listed in the JSON answer", async () => {
  const world = await newWorld();
  const path = await world.agent({ model: "say-tool-search_knowledge", rag_ids: [await newRag(world)] });
  const events = await readEvents(await ask(world, path, { message: "looms" }));
  const told = events
    .filter(({ event }) => event !== "delta")
    .map(({ event, data }) => [event, data.name, data.args ?? data.result, data.success]);
  expect(told).toEqual([
    ["tool_call", "search_knowledge", { query: "looms" }, undefined],
    ["tool_result", "search_knowledge", "Nothing was found. Try other words.", true],
    ["done", undefined, undefined, undefined],
  ]);
  const call = events.find(({ event }) => event === "tool_call");
  expect(events.find(({ event }) => event === "tool_result")?.data.id).toBe(call?.data.id);
  expect(pieces(events).join("")).toBe("Let me look.The tool said: Nothing was found. Try other words.");

  for (const reply of [
    await world.api.post(path, { data: { message: "looms", stream: false } }),
    await world.api.post(path.replace("/chat", "/test"), { data: { message: "looms" } }),
  ])
    expect(AgentReply.parse(await reply.json())).toMatchObject({
      response: "The tool said: Nothing was found. Try other words.",
      tool_calls: [{ name: "search_knowledge", args: { query: "looms" } }],
    });
});

test("an answer that ends at the limit of its length says so at its end", async () => {
  const world = await newWorld();
  const path = await world.agent({ model: "cut-json" });
  const events = await readEvents(await ask(world, path, { message: "Como" }));
  expect(ChatEvent.parse(events.at(-1)?.data)).toMatchObject({ type: "done", truncated: true });
  const reply = await world.api.post(path, { data: { message: "Como", stream: false } });
  expect(AgentReply.parse(await reply.json())).toMatchObject({ response: '{"answer": "half', truncated: true });
});

test("an answer that must follow a schema is one piece of JSON that does", async () => {
  const world = await newWorld();
  const output_schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };
  const events = await readEvents(await ask(world, await world.agent({ model: "bad-json-1", output_schema }), { message: "Como" }));
  expect(events.map(({ event }) => event)).toEqual(["delta", "done"]);
  expect(JSON.parse(String(events[0]?.data.content))).toEqual({ city: expect.any(String) });

  const never = await world.agent({ name: "Never", model: "bad-json-9", output_schema });
  const response = await ask(world, never, { message: "Como" });
  const error = ErrorBody.parse(await response.json());
  expect([response.status, error.error_code]).toEqual([502, "UPSTREAM_ERROR"]);
  expect(error.detail).toContain('It said: Here you are: {"wrong": true}');
});

test("a call that fails before its first piece is a 502 in the envelope, streamed or not", async () => {
  const world = await newWorld();
  const path = await world.agent({ model: "late-status-401" });
  for (const stream of [true, false]) {
    const response = await ask(world, path, { message: "hi", stream });
    expect([response.status, response.headers.get("content-type")]).toEqual([502, "application/json"]);
    expect(ErrorBody.parse(await response.json())).toMatchObject({
      error_code: "UPSTREAM_ERROR",
      detail: expect.stringContaining("Incorrect API key provided."),
    });
  }
});

test("a call that fails later ends the stream with one error event", async () => {
  const world = await newWorld();
  const broken = await readEvents(await ask(world, await world.agent({ model: "late-drop-mid-stream" }), { message: "hi" }));
  expect(pieces(broken).join("")).toBe("This answer ");
  expect(broken.at(-1)).toMatchObject({
    event: "error",
    data: { detail: expect.stringContaining("The connection to OpenAI-compatible broke off") },
  });
  expect(broken.filter(({ event }) => event === "error" || event === "done").length).toBe(1);

  const rag_ids = [await newRag(world)];
  const path = await world.agent({ name: "After", model: "tool-then-403-search_knowledge", rag_ids });
  const after = await readEvents(await ask(world, path, { message: "hi" }));
  expect(after.map(({ event }) => event)).toEqual(["tool_call", "tool_result", "error"]);
});

for (const stream of [true, false]) {
  test(`when the client goes away the model's call is aborted (stream: ${stream})`, async () => {
    const world = await newWorld();
    const gate = `chat-${world.project.id}`;
    const path = await world.agent({ model: `gate-${gate}` });
    const client = new AbortController();
    const message = `wait ${world.project.id}`;
    const asked = ask(world, path, { message, stream }, client.signal);
    asked.catch(() => undefined);
    await until(() => models.calls({ contains: message })[0]?.outcome === "waiting");
    client.abort();
    await until(() => models.calls({ contains: message })[0]?.outcome === "aborted");
    expect(models.calls({ contains: message }).length).toBe(1);
  });
}

test("a body that breaks the schema is refused with every field, and a stranger before his body is read", async () => {
  const world = await newWorld();
  const path = await world.agent();
  const refusals = [
    [{}, 422, ["message"]],
    [{ message: "" }, 422, ["message"]],
    [{ message: "hi", stream: "no" }, 422, ["stream"]],
    [{ message: "hi", histroy: [] }, 422, ["histroy"]],
    [{ message: "hi", history: [{ role: "system", content: "x" }] }, 422, ["history.0.role"]],
    [{ message: "hi", history: [{ role: "user", content: "x", name: "y" }] }, 422, ["history.0.name"]],
  ] as const;
  for (const [body, status, fields] of refusals) {
    const answer = await world.api.post(path, { data: body });
    expect(answer.status()).toBe(status);
    expect(ErrorBody.parse(await answer.json()).errors?.map((one) => one.path)).toEqual([...fields]);
  }
  const garbage = { headers: { "content-type": "application/json" }, data: Buffer.from('{"message":') };
  expect((await world.api.post(path, garbage)).status()).toBe(400);
  expect((await fetch(`${baseURL}${path}`, { method: "POST", body: "{" })).status).toBe(401);
  const wrong = await world.api.get(path);
  expect([wrong.status(), wrong.headers().allow]).toEqual([405, "POST, OPTIONS"]);
});

test("a chat needs an editor, and an agent of the project", async () => {
  const world = await newWorld();
  const path = await world.agent();
  const { api: viewer } = await newUser(host, world.project, "viewer");
  const { api: editor } = await newUser(host, world.project, "editor");
  const stranger = await newWorld();
  const data = { message: "hi", stream: false };
  expect((await viewer.post(path, { data })).status()).toBe(403);
  expect((await editor.post(path, { data })).status()).toBe(200);
  for (const stream of [true, false]) {
    const answer = await stranger.api.post(path, { data: { ...data, stream } });
    expect([answer.status(), (await answer.json()).error_code]).toEqual([404, "NOT_FOUND"]);
  }
  expect((await world.api.post("/api/v1/agents/no-uuid/chat", { data })).status()).toBe(404);
});

test("a repeated key gives the first JSON answer again, without a second call", async () => {
  const world = await newWorld();
  const path = await world.agent();
  const message = `once ${world.project.id}`;
  const again = { headers: { "idempotency-key": world.project.id }, data: { message, stream: false } };
  const answers = [await world.api.post(path, again), await world.api.post(path, again)];
  expect(await answers[1]?.json()).toEqual(await answers[0]?.json());
  expect(answers[1]?.headers()["idempotent-replayed"]).toBe("true");
  expect(models.calls({ contains: message }).length).toBe(1);
});
