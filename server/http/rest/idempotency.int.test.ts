import { beforeAll, expect, test } from "vitest";
import { createPlatformKey } from "#server/features/platform-keys/service.ts";
import { getStorage } from "#server/features/projects/limits.ts";
import { handleRest } from "#server/http/rest/rest.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { tidyKeys } from "#server/platform/rpc/idempotency.ts";
import { measureStorage } from "#server/runs/store/limits.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
let token: string;
beforeAll(async () => {
  admin = await database.newAdmin();
  token = (await createPlatformKey(admin, { name: "CI", scopes: ["write"] })).key;
});

async function post(path: string, body: object, key: string) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", "idempotency-key": key };
  const answer = await handleRest(
    new Request(`http://localhost:4000/api/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) }),
  );
  return { status: answer.status, isReplayed: answer.headers.get("idempotent-replayed") === "true", body: await answer.json() };
}
const flow = (value: string) => graphOf({ nodes: { t: ["triggerNode"], o: ["outputNode", { value }] }, edges: ["t>o"] });
const stored = async () => (await db().idempotencyKey.findFirstOrThrow({ orderBy: { created_at: "desc" } })) ?? {};

test("an answer over 64 kB is read from its resource again instead of being stored", async () => {
  const body = { name: "Long", ...flow("x".repeat(70_000)) };

  const first = await post("/workflows", body, "long");

  expect(first).toMatchObject({ status: 201, isReplayed: false });
  expect(await stored()).toMatchObject({ response: null, resource: `/workflows/${first.body.id}` });
  expect(await post("/workflows", body, "long")).toEqual({ ...first, isReplayed: true });
});

test("a resource that is gone answers the repetition with 404", async () => {
  const body = { name: "Gone", ...flow("x".repeat(70_000)) };
  const { body: made } = await post("/workflows", body, "gone");
  await db().workflow.update({ where: { id: made.id }, data: { deleted_at: new Date() } });

  expect(await post("/workflows", body, "gone")).toMatchObject({ status: 404, isReplayed: true });
});

test("an answer up to 64 kB is stored", async () => {
  const body = { name: "Short", ...flow("x") };
  const first = await post("/workflows", body, "short");

  expect(await stored()).toMatchObject({ response: expect.any(String), resource: null });
  await db().workflow.update({ where: { id: first.body.id }, data: { name: "Renamed" } });
  expect(await post("/workflows", body, "short")).toEqual({ ...first, isReplayed: true });
});

test("a key within its 24 hours outlives the removal of expired keys", async () => {
  const body = { name: "Kept", ...flow("x") };
  const first = await post("/workflows", body, "kept");
  await pool().query("UPDATE idempotency_keys SET expires_at = now() + interval '1 second'");

  await tidyKeys();

  expect(await post("/workflows", body, "kept")).toMatchObject({ isReplayed: true, body: { id: first.body.id } });
});

test("stored answers, versions, skills, tool lists, audit rows count toward the quota", async () => {
  const project_id = admin.project.id;
  const other = async () => {
    await measureStorage(project_id, () => false);
    return (await getStorage(admin, { project_id })).other;
  };
  const noise = (bytes: number) =>
    Array.from({ length: bytes / 8 }, (_, n) => ((n * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, "0")).join("");
  const key = await db().llmKey.create({ data: { project_id, name: "Key", provider: "openai", sealed_key: "x", masked_key: "x" } });
  const agent = await db().agent.create({ data: { project_id, name: "A", model: "m", llm_key_id: key.id } });
  const added = [
    () => db().idempotencyKey.updateMany({ where: { project_id }, data: { response: noise(80_000) } }),
    () => db().agentVersion.create({ data: { agent_id: agent.id, version: 1, config: { system_prompt: noise(80_000) } } }),
    () => db().skill.create({ data: { project_id, name: "S", prompt: noise(80_000) } }),
    () => db().mcpServer.create({ data: { project_id, name: "M", url: "https://example.com", tools: [noise(80_000)] } }),
    () =>
      db().auditEntry.createMany({
        data: Array.from({ length: 200 }, () => ({
          project_id,
          actor_email: "a@example.com",
          via: "session",
          action: "x",
          resource_type: "x",
          resource_id: "x",
        })),
      }),
  ];
  let before = await other();
  for (const add of added) {
    await add();
    const after = await other();
    expect(after - before).toBeGreaterThan(30_000);
    before = after;
  }
});
