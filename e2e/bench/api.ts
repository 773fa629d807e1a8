import { graphOf } from "#e2e/api/graphs.ts";
import { apiClient } from "#e2e/api-client.ts";
import { canMeasureCpu, treeCpu } from "#e2e/bench/cpu.ts";
import { type Requests, timeRequests } from "#e2e/bench/requests.ts";
import { postgresOf, startTreadle } from "#e2e/server.ts";
import { until } from "#e2e/until.ts";
import { Workflow, WorkflowPage } from "#server/features/workflows/schema.ts";
import { ExecuteResult, Execution } from "#server/runs/schema.ts";

// What a request costs: alone for its time, ten at once for how many there are in a second and what they use.

const COUNT = 1000;
const WARM_UP = 200;
const NODES = 20;

interface ApiFigures {
  alone: Requests;
  ten_at_once: Requests;
  /** The service's processes and PostgreSQL; of `execute` the run itself is in it. Null where it cannot be measured. */
  cpu_ms_per_request: number | null;
}

/** GET /workflows (50 items), GET /executions/{id} (20 nodes), POST execute with every limit off. */
export async function measureApi({ env, key }: { env: Record<string, string>; key: string }): Promise<Record<string, ApiFigures>> {
  const treadle = await startTreadle({ env });
  try {
    const api = apiClient({ url: treadle.url, key });
    const steps = Array.from({ length: NODES - 1 }, (_, index) => `s${index}`);
    const graph = graphOf(
      Object.fromEntries([["t", ["trigger"]], ...steps.map((id) => [id, ["output", { value: `{{trigger.output}} ${id}` }]])]),
      steps.map((id, index) => `${index === 0 ? "t" : `s${index - 1}`}>${id}`),
    );
    const long = (await api.post("/workflows", { name: "Long", ...graph }, { schema: Workflow, status: 201 })).body.id;
    const hello = graphOf({ t: ["trigger"], o: ["output"] }, ["t>o"]);
    const short = (await api.post("/workflows", { name: "Short", ...hello }, { schema: Workflow, status: 201 })).body.id;
    for (let index = 3; index <= 50; index++) await api.post("/workflows", { name: `Workflow ${index}`, ...hello }, { status: 201 });
    if ((await api.get("/workflows", { schema: WorkflowPage })).body.items.length !== 50) throw new Error("There are no 50 workflows.");
    const { execution_id } = (
      await api.post(`/workflows/${long}/execute`, { input: "x".repeat(200) }, { schema: ExecuteResult, status: 202 })
    ).body;
    const execution = await until(async () => {
      const { body } = await api.get(`/executions/${execution_id}`, { schema: Execution });
      return body.status === "completed" ? body : undefined;
    });
    if (Object.keys(execution.node_results).length !== NODES) throw new Error(`The execution has no ${NODES} nodes.`);

    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const get = (path: string) => () => fetch(`${treadle.url}/api/v1${path}`, { headers });
    const execute = (index: number) =>
      fetch(`${treadle.url}/api/v1/workflows/${short}/execute`, {
        method: "POST",
        headers,
        body: JSON.stringify({ input: String(index) }),
      });
    const cases = [
      { name: "GET /workflows (50 items)", send: get("/workflows"), status: 200 },
      { name: `GET /executions/{id} (${NODES} nodes)`, send: get(`/executions/${execution_id}`), status: 200 },
      { name: "POST /workflows/{id}/execute", send: execute, status: 202 },
    ];
    const postgres = postgresOf(treadle.dataDir);
    const cpu = () => (canMeasureCpu() ? treeCpu(treadle.pid, postgres) + (postgres ? treeCpu(postgres) : 0) : Number.NaN);
    const figures: Record<string, ApiFigures> = {};
    for (const { name, send, status } of cases) {
      await timeRequests(send, { count: WARM_UP, concurrency: 10, status });
      const alone = await timeRequests(send, { count: COUNT / 2, concurrency: 1, status });
      const before = cpu();
      const ten_at_once = await timeRequests(send, { count: COUNT, concurrency: 10, status });
      // What was accepted has run too before the next begins.
      await until(async () => {
        const open = await api.get(`/executions?workflow_id=${short}&per_page=1&status=running`);
        const waiting = await api.get(`/executions?workflow_id=${short}&per_page=1&status=pending`);
        return open.body.total + waiting.body.total === 0;
      }, 60_000);
      const used = (cpu() - before) / COUNT;
      figures[name] = { alone, ten_at_once, cpu_ms_per_request: Number.isNaN(used) ? null : used };
      process.stdout.write(
        `${name}: p50 ${alone.p50_ms.toFixed(1)} ms, p99 ${alone.p99_ms.toFixed(1)} ms alone; ${ten_at_once.per_second.toFixed(0)}/s, p50 ${ten_at_once.p50_ms.toFixed(1)} ms, p99 ${ten_at_once.p99_ms.toFixed(1)} ms with ten at once; CPU ${Number.isNaN(used) ? "cannot be measured here" : `${used.toFixed(2)} ms`} a request\n`,
      );
    }
    return figures;
  } finally {
    await treadle.stop();
  }
}
