import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import { type ApiClient, apiClient } from "#e2e/api-client.ts";
import { startModelServer } from "#e2e/fakes/model-server.ts";
import { COMMENT, type SavedWorkflow, saveStandardWorkflows } from "#e2e/standard-workflows.ts";
import { assertEnd, follow, type SmokeCase, smokeCases } from "#e2e/tools/smoke-inngest-cases.ts";

// Plays the standard set of workflows, and what that leaves out, on a running Treadle, and so on the Inngest server that it is
// connected to:
//
//   BASE_URL=http://localhost:3000 API_KEY=sk-service-… npm run smoke:inngest
//
// Their agents call a model stand-in: the one that MODEL_SERVER_URL names, else one that this script starts on
// MODEL_SERVER_PORT (any free port unless set) of this machine. Some of their nodes call it, and the Treadle itself, which so needs
// ALLOW_PRIVATE_NETWORK=1 where these are on its own network. One line for each; exit code 1 when one failed.

const say = (line: string) => process.stdout.write(`${line}\n`);

async function play(api: ApiClient, workflow: SavedWorkflow): Promise<void> {
  const mark = `smoke-${randomUUID()}`;
  const { body } = await api.post(`/workflows/${workflow.id}/execute`, { input: workflow.input(mark) }, { status: 202 });
  if (workflow.hasReview) {
    await follow(api, body.execution_id, ({ status }) => status === "paused");
    await api.post(`/executions/${body.execution_id}/approve`, { decision: "approved", comment: COMMENT }, { status: 200 });
  }
  assertEnd(await follow(api, body.execution_id), { output: workflow.output(mark) });
}

async function smoke(url: string, key: string): Promise<boolean> {
  const models = process.env.MODEL_SERVER_URL ? undefined : await startModelServer({ port: Number(process.env.MODEL_SERVER_PORT ?? 0) });
  const api = apiClient({ url: url.replace(/\/$/, ""), key });
  const suffix = ` (smoke ${randomUUID().slice(0, 8)})`;
  let isGood = true;
  try {
    const modelUrl = process.env.MODEL_SERVER_URL ?? models?.url ?? "";
    const saved = await saveStandardWorkflows(api, modelUrl, { pieceMs: 20, suffix });
    const [chain] = saved.workflows;
    const standard = saved.workflows.map((workflow): SmokeCase => ({ name: workflow.name, play: () => play(api, workflow) }));
    for (const { name, play } of [...standard, ...(chain ? smokeCases(api, { models: modelUrl, chain, suffix }) : [])]) {
      const from = performance.now();
      const outcome = await play().then(
        () => "ok",
        (error: Error) => `FAILED: ${error.message}`,
      );
      isGood &&= outcome === "ok";
      say(`${name.padEnd(20)} ${String(Math.round(performance.now() - from)).padStart(7)} ms  ${outcome}`);
    }
    await saved.remove().catch((error: Error) => say(`What the test has made could not be removed: ${error.message}`));
  } finally {
    await models?.stop();
  }
  return isGood;
}

const { values } = parseArgs({
  options: {
    url: { type: "string", default: process.env.BASE_URL ?? "http://localhost:3000" },
    key: { type: "string", default: process.env.API_KEY ?? "" },
  },
});
try {
  if (!values.key) throw new Error("Set API_KEY to a platform key of the Treadle at BASE_URL (Settings, API keys).");
  process.exitCode = (await smoke(values.url, values.key)) ? 0 : 1;
} catch (error) {
  const { message, cause } = error as Error;
  process.stderr.write(
    `The smoke test could not run: ${(message.split("\n")[0] ?? "") + (cause instanceof Error ? ` (${cause.message})` : "")}\n`,
  );
  process.exitCode = 1;
}
