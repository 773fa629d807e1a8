import { withOwnService } from "#e2e/bench/own-service.ts";
import { type Requests, timeRequests } from "#e2e/bench/requests.ts";
import { seedExecutions } from "#e2e/tools/seed-executions.ts";
import { until } from "#e2e/until.ts";
import { UserProfile } from "#server/features/identity/schema.ts";
import { ExecutionPage } from "#server/runs/schema.ts";

const COUNT = 1_000_000;
const REQUESTS = 100;
const WARM_UP = 10;
/** What every list must stay under, in milliseconds. */
const MOST_MS = 50;

/** Executions that lists have to count themselves. */
const UNCOUNTED = "SELECT (SELECT count(*) FROM executions) - (SELECT coalesce(sum(count), 0) FROM execution_counts) AS count";

/** Every list of executions in a project that has a million of them: without a filter, with each, with both; first, deep and last page. */
export async function measureLists({ env, key }: { env: Record<string, string>; key: string }) {
  return withOwnService({ env, key }, async ({ url, api, client, database }) => {
    const { projects } = (await api.get("/users/me", { schema: UserProfile })).body;
    const [busy, ...others] = await seedExecutions({ database, project: projects[0]?.id ?? "", count: COUNT });
    const rare = others.at(-1);
    const began = performance.now();
    const { total } = (await api.get("/executions", { schema: ExecutionPage })).body;
    const first_ms = performance.now() - began;
    if (total !== COUNT) throw new Error(`The total is ${total}.`);
    await until(async () => Number((await client.query(UNCOUNTED)).rows[0]?.count) < 20_000, 120_000);
    await client.query("VACUUM (ANALYZE) execution_counts, execution_open");
    process.stdout.write(`${COUNT} executions; the very first list, before anything was counted ahead: ${first_ms.toFixed(0)} ms\n`);

    const figures: Record<string, Requests> = {};
    const measure = async (path: string) => {
      const send = () => fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } });
      await timeRequests(send, { count: WARM_UP, concurrency: 1, status: 200 });
      figures[path] = await timeRequests(send, { count: REQUESTS, concurrency: 1, status: 200 });
    };
    const filters = [
      "",
      ...["completed", "failed", "rejected", "paused"].map((status) => `status=${status}`),
      ...[busy, rare].flatMap((id) => [`workflow_id=${id}`, `workflow_id=${id}&status=completed`, `workflow_id=${id}&status=rejected`]),
    ];
    for (const filter of filters) {
      const list = `/executions?${filter}${filter && "&"}`;
      const found = (await api.get(`${list}per_page=1`, { schema: ExecutionPage })).body.total;
      const last = Math.max(1, Math.ceil(found / 200));
      await measure(`${list}page=1`);
      for (const page of new Set([1, Math.min(last, 1000), Math.ceil(last / 2), last])) await measure(`${list}page=${page}&per_page=200`);
    }
    for (const id of [busy, rare]) await measure(`/workflows/${id}/executions?limit=200`);

    const slowest = Object.entries(figures).sort(([, a], [, b]) => b.p50_ms - a.p50_ms);
    const line = ([path, { p50_ms, p99_ms }]: (typeof slowest)[number]) =>
      `  ${p50_ms.toFixed(1).padStart(7)} ${p99_ms.toFixed(1).padStart(7)}  ${path}`;
    process.stdout.write(`lists at ${COUNT} executions, p50 and p99 in ms over REST, slowest first (wanted: under ${MOST_MS})\n`);
    process.stdout.write(`${slowest.map(line).join("\n")}\n`);
    return { first_ms, figures };
  });
}
