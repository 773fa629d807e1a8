import { createServer } from "node:http";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { listen } from "#e2e/fakes/listen.ts";
import { createCredential, deleteCredential, listCredentials } from "#server/features/credentials/service.ts";
import { readCredentialValues } from "#server/features/credentials/values.ts";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { setSettings } from "#server/platform/settings.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { getExecutionLogs } from "#server/runs/use-cases/get-execution-logs.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { collectEvents } from "#server/testing/reviews.ts";
import { startStoredRun, storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
beforeAll(async () => {
  admin = await database.newAdmin();
  setSettings({ ALLOW_PRIVATE_NETWORK: "1" });
  collectEvents();
  await createCredential(admin, { name: "TOKEN", value: "secret-token-value" });
});

const go = (id: string, seconds = 60) => claimAndExecute(storedServices({ credentials: readCredentialValues }), id, seconds);

test("what a call brought is there for later segments and for reruns, masked; its secret is nowhere", async () => {
  let calls = 0;
  const server = createServer((request, response) => {
    calls++;
    response.writeHead(200, { "x-echo": request.headers.authorization }).end(`{"you": "${request.headers.authorization}"}`);
  });
  const { url, stop } = await listen(server);
  onTestFinished(() => stop());
  const nodes = {
    t: ["triggerNode"],
    h: ["httpNode", { url, query: [{ name: "k", value: "{{credentials.TOKEN}}" }], auth: { kind: "bearer", credential: "TOKEN" } }],
    w: ["waitNode", { mode: "callback" }],
    o: ["outputNode", { value: "{{h.status}} {{h.headers.X-Echo}} {{h.output.you}}" }],
  };
  const id = await startStoredRun(admin, graphOf({ nodes: nodes as never, edges: ["t>h", "h>w", "w.done>o", "w.timed_out>o"] }));
  await go(id);
  const waiting = await getExecution(admin, { execution_id: id });
  const { answerApi } = await import("#server/http/api.ts");
  await answerApi(new Request(waiting.node_results.w?.resume_url ?? "", { method: "POST" }));
  await go(id);
  const run = await getExecution(admin, { execution_id: id });
  expect(run).toMatchObject({ status: "completed", output: "200 Bearer •••• Bearer ••••" });
  const again = await rerunExecution(admin, { execution_id: id, from_node_id: "o", use_current: false });
  await go(again.execution_id);
  expect(await getExecution(admin, { execution_id: again.execution_id })).toMatchObject({ status: "completed", output: run.output });
  expect(calls).toBe(1);
  const log = await getExecutionLogs(admin, { execution_id: id });
  expect(log.items.find(({ node_id }) => node_id === "h")?.input).toBe(`GET ${url}/?k=••••`);
  expect(JSON.stringify([run, log])).not.toContain("secret-token-value");
});

test("a credential that a call proves itself with is in use, and one that there is not is a problem", async () => {
  const call = (credential: string) => ({ url: "https://example.com", auth: { kind: "bearer", credential } });
  const graph = (credential: string) =>
    graphOf({ nodes: { t: ["triggerNode"], h: ["httpNode", call(credential)], o: ["outputNode"] } as never, edges: ["t>h", "h>o"] });
  const { problems } = await createWorkflow(admin, { name: "Calls", ...graph("TOKEN") });
  expect(problems).toEqual([]);
  const { items } = await listCredentials(admin, { page: 1, per_page: 10 });
  const cred_id = items.find(({ name }) => name === "TOKEN")?.id ?? "";
  await expect(deleteCredential(admin, { cred_id })).rejects.toMatchObject({ code: "CONFLICT", message: expect.stringContaining("Calls") });
  const missing = await createWorkflow(admin, { name: "Calls too", ...graph("GONE") });
  expect(missing.problems).toEqual([
    { node_id: "h", field: "auth", message: expect.stringContaining('no credential "GONE"'), severity: "error" },
  ]);
});
