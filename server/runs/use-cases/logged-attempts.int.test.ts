import { expect, test } from "vitest";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { getExecutionLogs } from "#server/runs/use-cases/get-execution-logs.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { startStoredRun, storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();

test("a log item lists the tries of a call that was repeated", async () => {
  const admin = await database.newAdmin();
  const nodes = {
    t: ["triggerNode"],
    h: ["httpNode", { url: "https://example.com", auth: { kind: "bearer", credential: "TOKEN" } }],
    o: ["outputNode"],
  } as const;
  const execution_id = await startStoredRun(admin, graphOf({ nodes: nodes as never, edges: ["t>h", "h>o"] }));
  const at = "2026-11-29T10:00:00.000Z";
  const services = storedServices({
    credentials: async () => new Map([["TOKEN", "secret-token-value"]]),
    callHttp: async (_call, _signal, onAttempt) => {
      onAttempt?.({ started_at: at, duration_ms: 7, error: `busy with secret-token-value ${"x".repeat(5000)}` });
      onAttempt?.({ started_at: at, duration_ms: 5, error: null });
      return { status: 200, headers: {}, text: "ok" };
    },
  });

  await claimAndExecute(services, execution_id, 60);

  const { items } = await getExecutionLogs(admin, { execution_id, node_id: "h" });
  expect(items).toMatchObject([
    {
      status: "complete",
      attempts: [
        { started_at: at, duration_ms: 7, error: expect.stringMatching(/^busy with •••• x{470,490}…$/) },
        { started_at: at, duration_ms: 5, error: null },
      ],
    },
  ]);
});
