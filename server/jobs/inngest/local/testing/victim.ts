// A process of its own that the test kills: it runs one step that never ends.
import { Inngest } from "inngest";
import { serve } from "inngest/edge";
import pg from "pg";
import { startLocalExecutor } from "#server/jobs/inngest/local/executor.ts";
import { createLocalFetch } from "#server/jobs/inngest/local/fetch.ts";

const [url, id] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 5 });
const client = new Inngest({
  id: String(id),
  aiMetadata: false,
  checkpointing: { bufferedSteps: 1, maxRuntime: 0 },
  isDev: true,
  eventKey: "local",
  baseUrl: "http://inngest.local",
  fetch: createLocalFetch(() => pool),
});
const fn = client.createFunction({ id: "fn", triggers: [{ event: `${id}/go` }] }, async ({ step }) => {
  await step.run("first", () => "victim");
  return step.run("second", () => new Promise<string>(() => undefined));
});
await startLocalExecutor({ handler: serve({ client, functions: [fn] }), concurrency: 5, pool });
