import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { vectorOf } from "#e2e/fakes/knowledge-server.ts";
import { type Listening, listen } from "#e2e/fakes/listen.ts";
import { until } from "#e2e/until.ts";
import { eventType, reviewOpened } from "#server/events/events.ts";
import { storeEvents } from "#server/events/job-rows.ts";
import { addDocument } from "#server/features/knowledge/documents.ts";
import { createRag } from "#server/features/knowledge/service.ts";
import { createLlmKey } from "#server/features/llm-keys/service.ts";
import { defineJob } from "#server/jobs/job.ts";
import { installJobSchema, takeOverOldJobs } from "#server/jobs/postgres/install.ts";
import { type JobWorker, startJobWorker } from "#server/jobs/postgres/worker.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { settings } from "#server/platform/settings.ts";
import { startTestJobs } from "#server/testing/jobs.ts";
import { createTestDatabase, testDatabase } from "#server/testing/test-database.ts";

// What only PostgreSQL must stand: processes that die, connections that break, and the version before.

const database = testDatabase();
const workers: JobWorker[] = [];
let vectors: Listening;
/** Holds the vectors back of whoever asks, once. */
let gate: Promise<void> | undefined;
let asked = 0;

const embeddings = createServer(async (request, response) => {
  const texts: string[] = [JSON.parse(Buffer.concat(await request.toArray()).toString()).input].flat();
  asked += 1;
  const held = gate;
  gate = undefined;
  await held;
  const data = texts.map((text, index) => ({ index, embedding: vectorOf(text) }));
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ object: "list", data }));
});
beforeAll(async () => {
  vectors = await listen(embeddings);
});
afterAll(() => vectors.stop());
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop(5000)));
});

const pinged = eventType("test/pinged", z.object({ n: z.number() }));
const ping = (n: number) => pinged.create({ n }, { id: `ping-${n}` });
const pingJob = (work: (n: number) => Promise<unknown>) => [
  defineJob({
    id: "ping",
    name: "Ping",
    trigger: { event: pinged },
    retries: 1,
    handler: ({ event: { data }, step }) => step.run("work", () => work(data.n)),
  }),
];
const queued = async () => (await pool().query("SELECT key FROM treadle_worker.jobs ORDER BY key")).rows.map(({ key }) => key);

test("an indexing whose process is killed is ended by another", async () => {
  const admin = await database.newAdmin();
  const key = await createLlmKey(admin, {
    name: "V",
    provider: "openai_compatible",
    api_key: "k-123456789",
    base_url: `${vectors.url}/v1`,
  });
  const config = { embedding_llm_key_id: key.id, embedding_model: "small" };
  const rag = await createRag(admin, { name: "House", type: "documents", config });
  const hold = Promise.withResolvers<void>();
  gate = hold.promise;
  const victim = spawn(process.execPath, [join(import.meta.dirname, "../../testing/job-victim.ts")], {
    env: { ...process.env, DATABASE_URL: settings().DATABASE_URL, ENCRYPTION_KEY: settings().ENCRYPTION_KEY, ALLOW_PRIVATE_NETWORK: "1" },
    stdio: "inherit",
  });
  const { id } = await addDocument(admin, { rag_id: rag.id, title: "Rules", text: "Nobody plays the drums after ten." });
  await until(() => asked > 0);
  victim.kill("SIGKILL");
  await once(victim, "exit");
  hold.resolve();
  workers.push(await startTestJobs());
  const isReady = async () => (await db().ragDocument.findUniqueOrThrow({ where: { id } })).status === "ready";
  await until(isReady);
  await until(async () => (await queued()).length === 0);
});

test("on a database that nobody else can work on, what a dead process held goes on at once", async () => {
  await storeEvents(pool(), [ping(1)]);
  await pool().query("UPDATE treadle_worker._private_jobs SET locked_by = 'pool-of-a-dead-one', locked_at = now(), attempts = 1");
  let ran = 0;
  const jobs = pingJob(async () => ++ran);
  workers.push(await startJobWorker({ jobs, databaseUrl: settings().DATABASE_URL ?? "", concurrency: 2, isAlone: true }));
  await until(() => ran === 1);
});

test("a job whose process has died each time ends as failed, and is not begun once more", async () => {
  await storeEvents(pool(), [ping(2)]);
  await pool().query("UPDATE treadle_worker._private_jobs SET attempts = 2");
  let ran = 0;
  const failures: string[] = [];
  const [job] = pingJob(async () => ++ran);
  if (job) workers.push(await startTestJobs([{ ...job, onFailure: ({ error }) => failures.push(error.message) }]));
  await until(() => failures.length);
  expect([ran, failures]).toEqual([0, ["The process that ran this job ended each time before it could report."]]);
});

test("all connections break while jobs run: they end, and what comes afterwards runs", async () => {
  const open = Promise.withResolvers<void>();
  const ran: number[] = [];
  workers.push(
    await startTestJobs(
      pingJob(async (n) => {
        ran.push(n);
        if (n === 3) await open.promise;
      }),
    ),
  );
  await storeEvents(pool(), [ping(3)]);
  await until(() => ran.length === 1);
  await pool().query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
  );
  open.resolve();
  await until(async () => (await queued()).length === 0);
  await until(() => storeEvents(pool(), [ping(4)]).then(() => true));
  await until(() => ran.includes(4));
});

test("a worker that stops leaves what does not end in time to others, at once", async () => {
  const open = Promise.withResolvers<void>();
  const ran: string[] = [];
  const first = await startTestJobs(
    pingJob(async () => {
      ran.push("first");
      await open.promise;
    }),
  );
  await storeEvents(pool(), [ping(5)]);
  await until(() => ran.length === 1);
  await first.stop(100);
  workers.push(await startTestJobs(pingJob(async () => ran.push("second"))));
  await until(() => ran.length === 2);
  open.resolve();
  await until(async () => (await queued()).length === 0);
  expect(ran).toEqual(["first", "second"]);
});

test("jobs that the version before had queued are taken over, each once", async () => {
  // Of the tables of the version before, what is read.
  await pool().query(`CREATE SCHEMA treadle_jobs;
    CREATE TABLE treadle_jobs.events (id text PRIMARY KEY, name text NOT NULL, payload text NOT NULL, routed boolean NOT NULL, delete_at bigint NOT NULL);
    CREATE TABLE treadle_jobs.runs (id text PRIMARY KEY, fn_id text NOT NULL, event text NOT NULL, status text NOT NULL, due_at bigint, owner int,
      blocked_on text, created_at bigint NOT NULL, ended_at bigint)`);
  const old = (fn: string, id: string, status = "running") =>
    pool().query("INSERT INTO treadle_jobs.runs (id, fn_id, event, status, created_at, due_at, owner) VALUES ($1, $2, $3, $4, 0, 5, 7)", [
      `${fn}-${id}`,
      `treadle-${fn}`,
      JSON.stringify({ id, name: fn === "index-document" ? "document/added" : "review/opened", data: { review_id: id }, ts: 1 }),
      status,
    ]);
  await old("notify-review", "mail-in-retry");
  await old("index-document", "document-1");
  await old("run-workflow", "a-run");
  const event = reviewOpened.create({ review_id: "unrouted" }, { id: "unrouted" });
  await pool().query("INSERT INTO treadle_jobs.events VALUES ($1, $2, $3, false, 5)", [event.id, event.name, JSON.stringify(event)]);
  await Promise.all([takeOverOldJobs(pool()), takeOverOldJobs(pool())]);
  await takeOverOldJobs(pool());
  expect(await queued()).toEqual(["document/added:document-1", "review/opened:mail-in-retry", "review/opened:unrouted"]);
  const { rows } = await pool().query("SELECT to_regnamespace('treadle_jobs') AS schema");
  expect(rows).toEqual([{ schema: null }]);
  await pool().query("DELETE FROM treadle_worker._private_jobs");
});

test("processes that start together make the tables once", async () => {
  const { url, drop } = await createTestDatabase({ isMigrated: false });
  await Promise.all([installJobSchema(url), installJobSchema(url), installJobSchema(url)]);
  await installJobSchema(url);
  await drop();
});
