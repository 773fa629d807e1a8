import { expect, test } from "@playwright/test";
import { type ApiClient, apiClient } from "#e2e/api-client.ts";
import { byMessage, type ExpectedRun, everyExecution, expectExactCalls, type Stop, stopped } from "#e2e/call-counts.ts";
import { startModelServer } from "#e2e/fakes/model-server.ts";
import { lengthOf } from "#e2e/length.ts";
import { startTreadle } from "#e2e/server.ts";
import { COMMENT, saveStandardWorkflows } from "#e2e/standard-workflows.ts";
import { noLimits, onPostgres } from "#e2e/system/install.ts";
import { type OwnPostgres, startOwnPostgres } from "#e2e/system/own-postgres.ts";
import { until } from "#e2e/until.ts";
import { Execution } from "#server/runs/schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";

const key = `sk-service-${"outages1".repeat(5)}`;
const env = (postgres: OwnPostgres) => ({
  ...onPostgres(postgres, key),
  ...noLimits,
  ALLOW_PRIVATE_NETWORK: "1",
});
/** A request without a database must be answered within this time, in milliseconds. */
const PATIENCE_MS = 10_000;

test("PostgreSQL is killed under load and comes back: what was accepted ends, and no finished call is made again", async () => {
  test.setTimeout(400_000);
  const ROUNDS = lengthOf({ short: 1, long: 10 });
  const postgres = await startOwnPostgres();
  const models = await startModelServer();
  const server = await startTreadle({ env: env(postgres) });
  const api = apiClient({ url: server.url, key });
  const saved = await saveStandardWorkflows(api, models.url, { pieceMs: 80 });
  // Without a database the service would have to answer its own call.
  const workflows = saved.workflows.filter(({ callsUs }) => !callsUs);
  const read = async ({ execution_id }: ExpectedRun) => (await api.get(`/executions/${execution_id}`, { schema: Execution })).body;

  const accepted: ExpectedRun[] = [];
  const stops: Stop[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const started = await Promise.all(
      workflows.map(async (workflow, index): Promise<ExpectedRun> => {
        const mark = `round-${round}-${index}`;
        const { body } = await api.post(`/workflows/${workflow.id}/execute`, { input: workflow.input(mark) }, { status: 202 });
        return { workflow, mark, execution_id: body.execution_id };
      }),
    );
    accepted.push(...started);
    await until(() => models.calls({ contains: `round-${round}` }).length > 2);

    stops.push(await stopped(postgres.kill9));
    const answered = () => models.calls({ contains: `round-${round}` }).filter(({ outcome }) => outcome === "answered").length;
    const before = answered();
    await expectErrors(api, accepted);
    expect((await fetch(`${server.url}/api/health`)).status).toBe(200);
    expect((await fetch(`${server.url}/api/health/ready`)).status).toBe(503);
    // Answers that come while there is nowhere to put them are kept, not asked for again.
    await until(() => answered() > before && models.calls().every(({ outcome }) => outcome !== "running"));
    await postgres.restart();
    await until(async () => (await fetch(`${server.url}/api/health/ready`)).status === 200);
    await approveAll(api, started);
  }
  for (const run of accepted) await until(async () => isFinal((await read(run)).status), 240_000); // the last net comes after two minutes

  const calls = byMessage(models.calls().filter(({ probe }) => !probe));
  // The process lived on, so it kept each answer that it got, and asked for none again. Attempts may have been interrupted
  // before they called: what they needed to know was in the database.
  const all = await everyExecution(api);
  for (const run of accepted) expect(await expectExactCalls(api, { ...run, calls, stops, all })).toMatchObject({ answeredTwice: 0 });
  expect([...calls.values()].filter((made) => made.length > 1)).toEqual([]);
  await server.stop();
  await models.stop();
  await postgres.stop();
});

/** Every kind of request is answered with an error in the usual shape. */
async function expectErrors(api: ApiClient, [run]: ExpectedRun[]): Promise<void> {
  const late = AbortSignal.timeout(PATIENCE_MS);
  const gaveUp = new Promise<never>((_, reject) => late.addEventListener("abort", () => reject(new Error("A request hangs."))));
  const requests = [
    api.get("/executions"),
    api.get(`/executions/${run?.execution_id}`),
    api.post(`/workflows/${run?.workflow.id}/execute`, {}),
    api.post(`/executions/${run?.execution_id}/approve`, { decision: "approved" }),
  ];
  for (const { status, body } of await Promise.race([Promise.all(requests), gaveUp])) {
    expect(ErrorBody.parse(body)).toMatchObject({ status: 503, error_code: "SERVICE_UNAVAILABLE" });
    expect(status).toBe(503);
    expect(body.detail).not.toMatch(/ECONN|127\.0\.0\.1|prisma/i);
  }
}

/** Approves the reviews of these runs as soon as they wait. */
async function approveAll(api: ApiClient, runs: readonly ExpectedRun[]): Promise<void> {
  for (const { workflow, execution_id } of runs) {
    if (!workflow.hasReview) continue;
    await until(async () => {
      const { status } = await api.post(`/executions/${execution_id}/approve`, { decision: "approved", comment: COMMENT });
      return status === 200;
    }, 60_000);
  }
}
