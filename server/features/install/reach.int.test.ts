import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type FakeMcpServer, startMcpServer } from "#e2e/fakes/mcp-server.ts";
import { readSearchCredentials } from "#server/features/credentials/values.ts";
import { createPlatformKey } from "#server/features/platform-keys/service.ts";
import { handleRest } from "#server/http/rest/rest.ts";
import { search } from "#server/llm/tools/web-search.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { seal } from "#server/platform/secrets.ts";
import { setSettings } from "#server/platform/settings.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { type HttpServer, startHttpServer } from "#server/testing/start-http-server.ts";
import { testDatabase } from "#server/testing/test-database.ts";

// Whoever has an account can make a project and is its admin. None of them may make this service call its own machine and
// networks, however an address gets there; the operator's people may.

const database = testDatabase();
const models = testModelServer();
let mcp: FakeMcpServer;
let inside: HttpServer;
let owner: ProjectPrincipal;
let stranger: ProjectPrincipal;

beforeAll(async () => {
  mcp = await startMcpServer();
  inside = await startHttpServer((response) => {
    response.writeHead(200, { "content-type": "application/json" }).end('{"results":[]}');
  });
});
afterAll(() => Promise.all([mcp.stop(), inside.stop()]));
beforeEach(async () => {
  inside.requests.length = 0;
  owner = await database.newInstallAdmin();
  stranger = await database.newAdmin();
  setSettings({ ALLOW_PRIVATE_NETWORK: "0", TREADLE_EMBEDDED_DATABASE: "1" });
});
afterEach(async () => {
  setSettings({ ALLOW_PRIVATE_NETWORK: "1", TREADLE_EMBEDDED_DATABASE: "0", PROJECT_ADMINS_MAY_USE_PRIVATE_ADDRESSES: "" });
  await db().user.updateMany({ data: { is_install_admin: false } });
});

interface Reply {
  status: number;
  body: { id: string; detail: string; ok?: boolean; message?: string; errors?: { path: string; message: string }[] };
}

/** The REST API as somebody with a key. */
async function apiOf(who: ProjectPrincipal, limits: object = {}) {
  const { key } = await createPlatformKey(who, { name: "Key", ...limits });
  return async (method: string, path: string, body?: object): Promise<Reply> => {
    const headers = { authorization: `Bearer ${key}`, "x-project-id": who.project.id, "content-type": "application/json" };
    const answer = await handleRest(
      new Request(`http://localhost:4000/api/v1${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) }),
    );
    return { status: answer.status, body: answer.status === 204 ? {} : JSON.parse(await answer.text()) };
  };
}

const llmKey = (base_url: string) => ({ name: "Local", provider: "openai_compatible", api_key: "some-key", base_url });

/** An LLM key that leads to the model stand-in here, stored without leave for that. @returns its id */
async function newKey({ project }: ProjectPrincipal): Promise<string> {
  const row = { name: "Stored", provider: "openai_compatible", base_url: models.url, sealed_key: seal("some-key"), masked_key: "x" };
  return (await db().llmKey.create({ data: { ...row, project_id: project.id } })).id;
}

/** Every way in which a caller names an address that this service calls, with the field and what a success answers. */
function doors(embedding_llm_key_id: string): [path: string, body: object, field: string, success: number][] {
  const { host, port } = new URL(inside.url);
  const vectors = { embedding_llm_key_id, embedding_model: "small" };
  const pgvector = { connection_string: `postgresql://reader@${host}/house`, table: "pieces", ...vectors };
  const qdrant = { url: inside.url, collection: "house", ...vectors };
  return [
    ["/llm-keys", llmKey(models.url), "base_url", 201],
    ["/llm-keys", { ...llmKey("http://127.0.0.1:1"), name: "Azure", provider: "azure" }, "base_url", 201],
    ["/mcp/discover", { url: `${mcp.url}/mcp` }, "url", 200],
    ["/mcp", { name: "Inside", url: `${mcp.url}/mcp` }, "url", 201],
    ["/rags", { name: "http", type: "http", config: { url: `${inside.url}/search` } }, "config.url", 201],
    ["/rags", { name: "named", type: "http", config: { url: `http://localhost:${port}/search` } }, "config.url", 201],
    ["/rags", { name: "pgvector", type: "pgvector", config: pgvector }, "config.connection_string", 201],
    ["/rags", { name: "qdrant", type: "qdrant", config: qdrant }, "config.url", 201],
    ["/credentials", { name: "SEARXNG_URL", value: inside.url }, "value", 201],
  ];
}

test("whoever makes a project reaches no private address, and an install admin does", async () => {
  const [theirs, ours] = [await apiOf(stranger), await apiOf(owner)];
  const [theirKey, ourKey] = [await newKey(stranger), await newKey(owner)];
  for (const [path, body, field, success] of doors(ourKey)) {
    const asTheirs = JSON.parse(JSON.stringify(body).replace(ourKey, theirKey));
    const refused = await theirs("POST", path, asTheirs);
    expect([refused.status, refused.body.errors?.map((error) => error.path)], `${path} ${field}`).toEqual([422, [field]]);
    expect(refused.body.detail).toMatch(/only install admins can save.* PROJECT_ADMINS_MAY_USE_PRIVATE_ADDRESSES=1/);
    const taken = await ours("POST", path, body);
    expect(taken.status, `${path} ${field} ${taken.body.detail}`).toBe(success);
  }
  expect(inside.requests).toEqual([]);
});

test("a project admin saves every private endpoint where the setting allows it", async () => {
  setSettings({ PROJECT_ADMINS_MAY_USE_PRIVATE_ADDRESSES: "1" });
  const theirs = await apiOf(stranger);

  for (const [path, body, field, success] of doors(await newKey(stranger))) {
    const { status, body: answer } = await theirs("POST", path, body);
    expect(status, `${path} ${field} ${answer.detail}`).toBe(success);
  }
});

test("an editor saves no private endpoint where project admins may", async () => {
  setSettings({ PROJECT_ADMINS_MAY_USE_PRIVATE_ADDRESSES: "1" });
  const editor = await database.newAdmin();
  await db().membership.create({ data: { project_id: stranger.project.id, user_id: editor.user.id, role: "editor" } });
  const api = await apiOf({ ...editor, project: stranger.project });

  const refused = await api("POST", "/mcp", { name: "Inside", url: `${mcp.url}/mcp` });

  expect([refused.status, refused.body.detail]).toEqual([422, expect.stringContaining("only admins of this project and install admins")]);
});

test("the admin of the only project may save a private endpoint by default", async () => {
  await db().project.updateMany({ where: { id: { not: stranger.project.id } }, data: { deleted_at: new Date() } });
  const theirs = await apiOf(stranger);
  const saved = await theirs("POST", "/llm-keys", llmKey(models.url));
  expect(saved.status).toBe(201);

  await database.newAdmin();

  expect((await theirs("POST", "/llm-keys", { ...llmKey(models.url), name: "Second" })).status).toBe(422);
  const agent = await theirs("POST", "/agents", { name: "Scout", llm_key_id: saved.body.id, model: "echo" });
  expect([agent.status, agent.body.detail]).toEqual([201, undefined]);
});

test("with the setting off, the admin of the only project saves no private endpoint", async () => {
  setSettings({ PROJECT_ADMINS_MAY_USE_PRIVATE_ADDRESSES: "0" });
  await db().project.updateMany({ where: { id: { not: stranger.project.id } }, data: { deleted_at: new Date() } });

  const refused = await (await apiOf(stranger))("POST", "/llm-keys", llmKey(models.url));

  expect(refused.status).toBe(422);
});

test("cloud metadata and the like are refused to install admins too", async () => {
  const ours = await apiOf(owner);
  for (const host of ["169.254.169.254", "[fd00:ec2::254]", "0.0.0.0"]) {
    const refused = await ours("POST", "/llm-keys", llmKey(`http://${host}/v1`));
    expect([refused.status, refused.body.detail]).toEqual([422, expect.stringContaining("private or reserved network")]);
  }
});

test("what was stored without leave is refused where it connects: models, embeddings, sources, servers, searches", async () => {
  const theirs = await apiOf(stranger);
  const project_id = stranger.project.id;
  const key = { id: await newKey(stranger) };
  const agent = await theirs("POST", "/agents", { name: "Scout", llm_key_id: key.id, model: "echo" });
  expect([agent.status, agent.body.detail]).toEqual([502, expect.stringContaining("private or reserved network")]);
  expect((await theirs("GET", `/llm-keys/${key.id}/models`)).body).toMatchObject({ source: "curated" });
  const documents = await theirs("POST", "/rags", {
    name: "Documents",
    type: "documents",
    config: { embedding_llm_key_id: key.id, embedding_model: "small" },
  });
  const config = { url: `${inside.url}/search`, method: "GET", query_param: "q", results_path: "results", headers: {} };
  const source = await db().ragSource.create({ data: { project_id, name: "Http", type: "http", config } });
  for (const id of [documents.body.id, source.id])
    expect((await theirs("POST", `/rags/${id}/test`)).body).toMatchObject({
      ok: false,
      message: expect.stringContaining("private or reserved network"),
    });
  const server = await db().mcpServer.create({ data: { project_id, name: "Inside", url: `${mcp.url}/mcp` } });
  const refreshed = await theirs("POST", `/mcp/${server.id}/refresh`);
  expect([refreshed.status, refreshed.body.detail]).toEqual([502, expect.stringContaining("private or reserved network")]);
  await db().credential.create({ data: { project_id, name: "SEARXNG_URL", sealed_value: seal(inside.url) } });
  await expect(search("x", { ...(await readSearchCredentials(project_id)), owner: project_id })).rejects.toThrow(
    /private or reserved network/,
  );
  expect([inside.requests, models.calls(), mcp.sessions()]).toEqual([[], [], 0]);
});

test("leave is for one address: another one needs its own, and a name or a secret may change", async () => {
  const [ours, theirs] = [await apiOf(owner), await apiOf({ ...stranger, project: owner.project })];
  await db().membership.create({ data: { project_id: owner.project.id, user_id: stranger.user.id, role: "admin" } });
  const key = await ours("POST", "/llm-keys", llmKey(models.url));
  expect((await theirs("PUT", `/llm-keys/${key.body.id}`, { name: "Ours", api_key: "another-key" })).status).toBe(200);
  const agent = await theirs("POST", "/agents", { name: "Scout", llm_key_id: key.body.id, model: "echo" });
  expect([agent.status, models.calls().length > 0]).toEqual([201, true]);
  const source = await ours("POST", "/rags", { name: "Http", type: "http", config: { url: `${inside.url}/search` } });
  const path = `/rags/${source.body.id}`;
  expect((await theirs("PUT", path, { name: "Ours", config: { url: `${inside.url}/search` } })).status).toBe(200);
  expect((await theirs("PUT", path, { config: { url: `${inside.url}/admin` } })).status).toBe(422);
  expect((await theirs("POST", `${path}/test`)).body).toMatchObject({ ok: true });
  // One that has no leave gets it when an install admin saves it, and by nobody else.
  const stored = await newKey(owner);
  const leave = async () => (await db().llmKey.findUniqueOrThrow({ where: { id: stored } })).private_allowed;
  expect((await theirs("PUT", `/llm-keys/${stored}`, { name: "Theirs" })).status).toBe(200);
  expect(await leave()).toBe(false);
  expect((await ours("PUT", `/llm-keys/${stored}`, { name: "Ours again" })).status).toBe(200);
  expect(await leave()).toBe(true);
  // A public address gets no leave, whoever saves it: whoever owns its name could lead it inside later.
  await ours("PUT", path, { config: { url: "https://93.184.216.34/search" } });
  expect(await db().ragSource.findUniqueOrThrow({ where: { id: source.body.id } })).toMatchObject({ private_allowed: false });
});

test("an install admin names others and takes it back, and one always stays", async () => {
  const [ours, theirs] = [await apiOf(owner), await apiOf(stranger)];
  expect((await theirs("GET", "/install/admins")).status).toBe(403);
  expect((await theirs("POST", "/install/admins", { email: stranger.user.email })).status).toBe(403);
  expect((await theirs("DELETE", `/install/admins/${owner.user.id}`)).status).toBe(403);
  const last = await ours("DELETE", `/install/admins/${owner.user.id}`);
  expect([last.status, last.body.detail]).toEqual([409, expect.stringContaining("last admin of the install")]);
  expect((await ours("POST", "/install/admins", { email: "nobody@example.com" })).status).toBe(422);
  // Anybody may have made the account of an address that nobody has verified.
  const email = stranger.user.email.toUpperCase();
  const unproven = await ours("POST", "/install/admins", { email });
  expect([unproven.status, unproven.body.errors]).toEqual([
    422,
    [{ path: "accept_unverified", message: expect.stringContaining("not verified") }],
  ]);
  expect((await ours("POST", "/install/admins", { email, accept_unverified: true })).body).toMatchObject({ user_id: stranger.user.id });
  expect((await theirs("GET", "/install/admins")).body).toMatchObject({ total: 2 });
  expect((await theirs("POST", "/llm-keys", llmKey(models.url))).status).toBe(201);
  expect((await ours("DELETE", `/install/admins/${stranger.user.id}`)).status).toBe(204);
  expect((await theirs("POST", "/llm-keys", { ...llmKey(models.url), name: "Second" })).status).toBe(422);
});

test("a key for some projects does not speak for the install, nor does one that may not write", async () => {
  const confined = await apiOf(owner, { project_ids: [owner.project.id] });
  expect((await confined("POST", "/llm-keys", llmKey(models.url))).status).toBe(422);
  expect((await confined("GET", "/install/admins")).status).toBe(403);
  const reading = await apiOf(owner, { scopes: ["read"] });
  expect((await reading("GET", "/install/admins")).status).toBe(200);
  expect((await reading("POST", "/install/admins", { email: stranger.user.email })).status).toBe(403);
});
