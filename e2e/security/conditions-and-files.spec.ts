import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { graphOf } from "#e2e/api/graphs.ts";
import { apiClient } from "#e2e/api-client.ts";
import { memoryOf, peakOf } from "#e2e/bench/memory.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { postgresOf, preparedDataDir, startTreadle } from "#e2e/server.ts";
import { firstUser, noLimits } from "#e2e/system/install.ts";
import { until } from "#e2e/until.ts";
import { Rag, RagDocumentDetail } from "#server/features/knowledge/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { ExecuteResult, Execution } from "#server/runs/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";
import { pdfBomb } from "#server/testing/bombs.ts";

// What is worked on in processes that are killed: conditions, and files that somebody uploads.

/** Grows by some 130 MB a second within one step of the sandbox. */
const HOSTILE = 'json.dumps([[[[0]*1000]*1000]*1000]*1000) == ""';
const key = `sk-service-${"attacked".repeat(5)}`;

/** What the system says of a process; nothing of one that has ended meanwhile. */
function saidOf(pid: number | string, file: "stat" | "environ"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

/** Processes that a process has started, and those that they have. */
function descendantsOf(pid: number): number[] {
  const children = readdirSync("/proc").flatMap((name) => {
    const stat = /^\d+$/.test(name) ? saidOf(name, "stat") : "";
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === pid ? [Number(name)] : [];
  });
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}

test("a viewer's check of a hostile condition is answered with what is wrong with it, and everything else goes on", async ({ newUser }) => {
  const { browser, project } = await newUser({ role: "viewer" });
  const input = (condition: string) => encodeURIComponent(JSON.stringify({ condition }));
  const check = async (condition: string) => {
    const answer = await browser.get(`/api/trpc/checks.condition?input=${input(condition)}`, { headers: { "x-project-id": project.id } });
    return (await answer.json()).result.data.fault;
  };
  // A service that waited for conditions would answer once or twice meanwhile. On a busy machine answers may be as few in one round,
  // but not in every one.
  await expect(async () => {
    let isOver = false;
    const hostile = Promise.all([1, 2, 3, 4].map((number) => check(`${HOSTILE} or ${number} == 0`))).finally(() => {
      isOver = true;
    });
    let answered = 0;
    while (!isOver) {
      expect((await browser.get("/api/health")).status()).toBe(200);
      answered++;
      await pause(20);
    }
    for (const fault of await hostile) expect(fault).toContain("was stopped");
    expect(answered).toBeGreaterThan(10);
  }).toPass();
  expect(await check("output == 'x'")).toBeNull();
});

test("a hostile condition behind a review, and a file that unpacks to a gigabyte: run and document fail with a sentence, the service stays, and no process holds a secret of the start", async () => {
  const dataDir = preparedDataDir();
  const env = { ...firstUser(key), ...noLimits, SMTP_URL: "smtp://user:mailsecret@127.0.0.1:1", EMAIL_FROM: "treadle@example.com" };
  const secrets = [key, env.BOOTSTRAP_PASSWORD, "mailsecret"];
  let treadle = await startTreadle({ env, dataDir });
  let api = apiClient({ url: treadle.url, key });
  const branchOf = (condition: string) =>
    graphOf({ t: ["trigger"], r: ["humanLoop"], b: ["branch", { condition }], o: ["output"] }, ["t>r", "r.approved>b", "b.true>o"]);
  const save = async (name: string, condition: string) =>
    (await api.post("/workflows", { name, ...branchOf(condition) }, { schema: Workflow, status: 201 })).body;
  // It is looked at when it is saved. On a busy machine the first look may not end in time, since a process is started for it.
  await expect(async () => {
    const { problems } = await save("Hostile", HOSTILE);
    expect(problems).toMatchObject([{ node_id: "b", field: "condition", message: expect.stringContaining("was stopped") }]);
  }).toPass();
  // What is not known to be hostile before it runs is stopped as it runs.
  const subtle = await save("Subtle", `output != "" and ${HOSTILE}`);
  expect(subtle.problems).toEqual([]);
  const { body: started } = await api.post(`/workflows/${subtle.id}/execute`, { input: "x" }, { schema: ExecuteResult, status: 202 });
  const execution = async () => (await api.get(`/executions/${started.execution_id}`, { schema: Execution })).body;
  await until(async () => (await execution()).status === "paused");
  await api.post(`/executions/${started.execution_id}/approve`, { decision: "approved" }, { status: 200 });
  await treadle.kill9();

  // After each start it is run again, and fails.
  treadle = await startTreadle({ env, dataDir });
  api = apiClient({ url: treadle.url, key });
  const ended = await until(async () => {
    const now = await execution();
    return isFinal(now.status) ? now : undefined;
  }, 60_000);
  expect(ended).toMatchObject({ status: "failed", error: expect.stringContaining("was stopped") });

  const { body: rag } = await api.post("/rags", { name: "Bombs", type: "documents" }, { schema: Rag, status: 201 });
  const before = memoryOf(treadle.pid);
  // The other kinds of such files, and what this process takes of each, are tried in reader.test.ts.
  const form = new FormData();
  form.set("file", new Blob([Buffer.from(await pdfBomb(1000))], { type: "application/pdf" }), "bomb.pdf");
  const sent = await fetch(`${treadle.url}/api/v1/rags/${rag.id}/documents`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: form,
  });
  expect(sent.status).toBe(201);
  const { id } = await sent.json();
  const document = await until(async () => {
    const { body } = await api.get(`/rags/${rag.id}/documents/${id}`, { schema: RagDocumentDetail });
    return body.status === "indexing" ? undefined : body;
  }, 60_000);
  expect(document).toMatchObject({
    status: "failed",
    error: "Reading the document takes more memory than there is for it. Use another source.",
  });
  expect(peakOf(treadle.pid) - before).toBeLessThan(300);

  const children = descendantsOf(treadle.pid);
  expect(children).toContain(postgresOf(dataDir));
  const environments = children.map((pid) => saidOf(pid, "environ")).filter(Boolean);
  expect(environments.length).toBeGreaterThan(2);
  for (const environment of environments) for (const secret of secrets) expect(environment).not.toContain(secret);
  await treadle.stop();
});
