import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type ApiClient, apiClient } from "#e2e/api-client.ts";
import { startModelServer } from "#e2e/fakes/model-server.ts";
import { COMMENT, type SavedWorkflow, saveStandardWorkflows } from "#e2e/standard-workflows.ts";
import { until } from "#e2e/until.ts";
import { Execution, isFinal } from "#server/schemas/execution.ts";

// Plays the standard set of workflows on a running Treadle, and so on the Inngest server that it is connected to:
//
//   BASE_URL=http://localhost:3000 API_KEY=sk-service-… npm run smoke:inngest
//
// Their agents call a model stand-in: the one that MODEL_SERVER_URL names, else one that this script starts on
// MODEL_SERVER_PORT (any free port unless set) of this machine. One line for each workflow; exit code 1 when one failed.

/** How long a run may take; a real server lets a wait of its own pass between steps. */
const PATIENCE_MS = 120_000;
/** Between two looks at a run: seldom enough for the limits of a new installation, 30 requests in 5 seconds and 200 in a minute. */
const LOOK_MS = 400;

const say = (line: string) => process.stdout.write(`${line}\n`);

async function play(api: ApiClient, workflow: SavedWorkflow): Promise<Execution> {
  const mark = `smoke-${randomUUID()}`;
  const { body } = await api.post(`/workflows/${workflow.id}/execute`, { input: workflow.input(mark) }, { status: 202 });
  const path = `/executions/${body.execution_id}`;
  let isApproved = false;
  const run = await until(async () => {
    await pause(LOOK_MS);
    const { body: current } = await api.get(path, { schema: Execution });
    if (workflow.hasReview && !isApproved && current.status === "paused") {
      await api.post(`${path}/approve`, { decision: "approved", comment: COMMENT }, { status: 200 });
      isApproved = true;
    }
    return isFinal(current.status) ? current : undefined;
  }, PATIENCE_MS);
  const expected = workflow.output(mark);
  if (run.status !== "completed") throw new Error(`it ended as ${run.status}: ${run.error ?? ""}`);
  if (run.output !== expected) throw new Error(`its output is ${run.output}, and should be ${expected}`);
  return run;
}

async function smoke(url: string, key: string): Promise<boolean> {
  const models = process.env.MODEL_SERVER_URL ? undefined : await startModelServer({ port: Number(process.env.MODEL_SERVER_PORT ?? 0) });
  const api = apiClient({ url: url.replace(/\/$/, ""), key });
  const suffix = ` (smoke ${randomUUID().slice(0, 8)})`;
  let isGood = true;
  try {
    const saved = await saveStandardWorkflows(api, process.env.MODEL_SERVER_URL ?? models?.url ?? "", { pieceMs: 20, suffix });
    for (const workflow of saved.workflows) {
      const from = performance.now();
      const outcome = await play(api, workflow).then(
        () => "ok",
        (error: Error) => `FAILED: ${error.message}`,
      );
      isGood &&= outcome === "ok";
      say(`${workflow.name.padEnd(20)} ${String(Math.round(performance.now() - from)).padStart(7)} ms  ${outcome}`);
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
