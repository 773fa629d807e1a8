import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { Pool } from "pg";
import { graphOf } from "#e2e/api/graphs.ts";
import { type ApiClient, apiClient } from "#e2e/api-client.ts";
import { startModelServer } from "#e2e/fakes/model-server.ts";
import { startMailServer } from "#e2e/fakes/smtp.ts";
import { databaseUrl, startTreadle } from "#e2e/server.ts";
import { firstUser, noRateLimit } from "#e2e/system/install.ts";
import { until } from "#e2e/until.ts";
import { Agent } from "#server/features/agents/schema.ts";
import { LlmKey } from "#server/features/llm-keys/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { ExecuteResult, Execution, ExecutionLogs } from "#server/runs/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";

// A canary: a secret that a workflow uses wherever it can, and that is then looked for in everything that the product
// has written, sent or printed. The server is one of its own, so that all of it can be gone through.

const key = `sk-service-${"canaries".repeat(5)}`;
const MASK = "••••";
const LETTERS = "ghijklmnopqrstuvwxyz";
/** Letters that no hexadecimal number has, so that no id or hash can look like a part of the secret. */
const letters = (count: number) => [...randomBytes(count)].map((byte) => LETTERS[byte % LETTERS.length]).join("");

/** A secret that every encoding writes in another way, and parts of it that every encoding leaves alone. */
function newCanary() {
  const [first, second] = [letters(24), letters(24)];
  const parts = [first, second].flatMap((text) => [text.slice(0, 8), text.slice(8, 16), text.slice(-8)]);
  return { secret: `${first}"\\ /&é+%${second}`, parts };
}

type Data = Record<string, unknown>;

/** Where the secret is used: an agent's input, in pieces of 3 characters; outputs; a loop; a tool; errors; a review; the end. */
const everywhere = (agents: Record<string, string>, origin: string, isFailing: boolean) => {
  const secret = "{{credentials.CANARY}}";
  const agent = (name: string, input: string, data: Data = {}): [string, Data] => [
    "agent",
    { agent_id: agents[name], input, retries: 0, ...data },
  ];
  // Long enough that whoever quotes it and cuts it short cuts the secret in two.
  const often = Array.from({ length: 60 }, (_, index) => `${secret}${".".repeat(index % 7)}`).join(" ");
  return graphOf(
    {
      t: ["trigger", { kind: "manual" }],
      say: agent("crumbs", `Say ${secret} now`),
      json: agent("crumbs", `{"token": "${secret}"}`),
      jsonOut: ["output", { value: "{{json.output}}" }],
      way: ["branch", { condition: '"{" in output or len(trigger_output) > 1000' }],
      both: ["output", { value: `{{say.output}} and ${secret}` }],
      items: ["loop", { items_expression: `["${secret}", "{{say.output}}", "two"]`, concurrency: 2 }],
      each: agent("crumbs", `{{items.current_item}} with ${secret}`),
      eachOut: ["output", { value: `{{each.output}} ${secret}` }],
      refused: agent("quote", often, { on_error: "continue" }),
      garbled: agent("misfit", often, { on_error: "continue" }),
      look: agent("tool", `${origin}/${"p".repeat(160)}${secret}?q=${secret}`),
      check: [
        "humanLoop",
        {
          title: `Use ${secret}?`,
          description: `${secret} {{refused.output}}`,
          display_value: often,
          notification_email: isFailing ? "kim@example.com" : "pat@example.com",
        },
      ],
      broken: ["output", { value: often, format: isFailing ? "json" : "passthrough" }],
      end: ["terminate", { status: "failed", message: `Ended with ${secret}, {{check.output}}` }],
    },
    [
      ...["t>say", "t>json", "json>jsonOut", "say>way", "way.false>both", "both>items", "items.body>each", "each>eachOut"],
      ...["items.done>refused", "items.done>garbled", "refused>look", "garbled>look", "look>check", "check.approved>broken", "broken>end"],
    ],
  );
};

/** All that is stored in the database, row by row, but for the table of credentials. */
async function wholeDatabase(dataDir: string): Promise<{ table: string; text: string }[]> {
  const pool = new Pool({ connectionString: databaseUrl(dataDir), max: 1 });
  pool.on("error", () => undefined); // its connections end after the pool, perhaps with the server
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND tablename <> 'credentials'`,
  );
  const found: { table: string; text: string }[] = [];
  for (const { name } of tables) {
    const { rows } = await pool.query<{ text: string }>(`SELECT t::text AS text FROM ${name} t`);
    // Bytes are written as hexadecimal numbers.
    const asBytes = (text: string) => text.replace(/\\\\x([0-9a-f]+)/g, (_, hex) => Buffer.from(hex, "hex").toString("latin1"));
    found.push(...rows.map(({ text }) => ({ table: name, text: `${text} ${asBytes(text)}` })));
  }
  await pool.end();
  return found;
}

/** Files of the data folder in which one of the texts stands, whatever they are for: the database's log of changes too. */
function filesWith(folder: string, texts: string[]): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      try {
        const bytes = readFileSync(path);
        return texts.some((text) => bytes.includes(text));
      } catch {
        return false; // a file that was temporary
      }
    });
}

/** Every byte of the stream until the server ends it. */
async function streamBytes(url: string, id: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/executions/${id}/stream?token=${key}`);
  return response.text();
}

/** Everything that the REST API says of an execution and around it, as it goes over the wire. */
async function allAnswers(url: string, api: ApiClient, id: string, workflow: Workflow): Promise<string> {
  const raw = async (path: string) => {
    const response = await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } });
    // Of a node inside a loop there is an output only with its iteration.
    expect([200, 404], path).toContain(response.status);
    return `${path} ${response.status} ${await response.text()}`;
  };
  const { body: logs } = await api.get(`/executions/${id}/logs`, { schema: ExecutionLogs });
  expect(logs.items.length).toBeGreaterThan(10);
  const paths = [
    ...["/executions", "/reviews", "/audit", "/credentials", "/agents", "/workflows"],
    ...["", "/logs"].map((of) => `/executions/${id}${of}`),
    ...["", "/executions"].map((of) => `/workflows/${workflow.id}${of}`),
    ...workflow.nodes.map((node) => `/executions/${id}/nodes/${node.id}/output`),
    ...[0, 1, 2].map((index) => `/executions/${id}/nodes/each/output?iteration=${index}`),
  ];
  const answers: string[] = [];
  for (const path of paths) answers.push(await raw(path));
  return answers.join("\n");
}

test("a secret that runs use stands in no table but its own, no log, no stream, no answer, no error and no e-mail", {
  tag: "@main",
}, async () => {
  const { secret, parts } = newCanary();
  const models = await startModelServer();
  const mailServer = await startMailServer();
  const env = {
    ...firstUser(key),
    SMTP_URL: mailServer.url,
    EMAIL_FROM: "Treadle <treadle@example.com>",
    LOG_LEVEL: "debug",
    ALLOW_PRIVATE_NETWORK: "1",
    ...noRateLimit,
  };
  const server = await startTreadle({ env });
  const api = apiClient({ url: server.url, key });
  await api.post("/credentials", { name: "CANARY", value: secret }, { status: 201 });
  const { body: llm } = await api.post(
    "/llm-keys",
    { name: "Stand-in", provider: "openai_compatible", api_key: "stand-in-key", base_url: models.url },
    { schema: LlmKey, status: 201 },
  );
  const agents: Record<string, string> = {};
  const answer_schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"], additionalProperties: false };
  for (const [name, model, more] of [
    ["crumbs", "crumbs-3-30", {}],
    ["quote", "quote-400", {}],
    ["misfit", "stubborn", { output_schema: answer_schema }],
    ["tool", "tool-web_scraper", { tools: ["web_scraper"] }],
  ] as const)
    agents[name] = (await api.post("/agents", { name, model, llm_key_id: llm.id, ...more }, { schema: Agent, status: 201 })).body.id;

  /** Starts a run, approves its review, and gives back all that could be heard of it. */
  const play = async (isFailing: boolean) => {
    const graph = everywhere(agents, new URL(models.url).origin, isFailing);
    const { body: workflow } = await api.post("/workflows", { name: `Canary ${isFailing}`, ...graph }, { schema: Workflow, status: 201 });
    expect(workflow.problems).toEqual([]);
    const start = await api.post(`/workflows/${workflow.id}/execute`, { input: "x" }, { schema: ExecuteResult, status: 202 });
    const id = start.body.execution_id;
    const live = streamBytes(server.url, id);
    const execution = async () => (await api.get(`/executions/${id}`, { schema: Execution })).body;
    const waiting = await until(async () => {
      const now = await execution();
      return now.status === "paused" || isFinal(now.status) ? now : undefined;
    }, 120_000);
    expect(waiting.status, JSON.stringify(waiting.error)).toBe("paused");
    await until(() => mailServer.mails.length > (isFailing ? 1 : 0), 60_000);
    const paused = await allAnswers(server.url, api, id, workflow);
    await api.post(`/executions/${id}/approve`, { decision: "approved", comment: "go on" }, { status: 200 });
    const ended = await until(async () => {
      const now = await execution();
      return isFinal(now.status) ? now : undefined;
    }, 120_000);
    const after = await allAnswers(server.url, api, id, workflow);
    return { ended, live: await live, replay: await streamBytes(server.url, id), paused, after };
  };

  const first = await play(false);
  expect(first.ended).toMatchObject({ status: "failed", error: `Ended with ${MASK}, approved: go on` });
  const results = first.ended.node_results;
  expect(results.say).toMatchObject({ status: "complete", output: `Echo: Say ${MASK} now` });
  expect(results.both).toMatchObject({ output: `Echo: Say ${MASK} now and ${MASK}` });
  expect(results.refused).toMatchObject({ status: "failed" });
  expect(results.refused?.error).toContain(`Refused: ${MASK}`);
  expect(results.garbled?.error).toContain(`It said: ${MASK}`);
  const second = await play(true);
  // Viewers were shown the pieces of answers, and the mask among them.
  const pieces = (first.live + second.live).split("\n").filter((line) => line.includes('"node_delta"'));
  expect(pieces.join("\n")).toContain(MASK);
  expect(second.ended.error).toContain("not valid JSON");

  // What was called got it in clear: the agents, and with them the tool.
  for (const [words, count] of [
    [`Say ${secret} now`, 2],
    [`{"token": "${secret}"}`, 2],
    [` with ${secret}`, 6],
    [`pppp${secret}?q=${secret}`, 4],
  ] as const)
    expect(models.calls({ contains: words })).toHaveLength(count);
  expect(results.look?.output).toMatch(/The tool said: .* answered 401 for \/p+••••/);

  const heard = {
    "the live stream": first.live + second.live,
    "the stream of a run that has ended": first.replay + second.replay,
    "REST while it was paused": first.paused + second.paused,
    "REST afterwards": first.after + second.after,
    "e-mails": JSON.stringify(mailServer.mails),
  };
  for (const [where, text] of Object.entries(heard)) {
    expect(text, `${where} shows that something was masked`).toContain(MASK);
    for (const part of parts) expect(text.includes(part), `${where} holds a part of the secret`).toBe(false);
  }
  const rows = await wholeDatabase(server.dataDir);
  const tables = (text: string) => [...new Set(rows.filter((row) => row.text.includes(text)).map(({ table }) => table))].sort();
  expect(tables(MASK)).toEqual(expect.arrayContaining(["public.executions", "public.node_runs", "public.waits"]));
  expect(rows.some(({ text }) => /"url"+: "+http\S+pp••••\?q=••••/.test(text))).toBe(true); // of a tool's call
  for (const part of parts) expect(tables(part)).toEqual([]);
  expect(filesWith(server.dataDir, parts)).toEqual([]);

  await server.stop();
  for (const part of parts) expect(server.logs().includes(part), "the server's log holds a part of the secret").toBe(false);
  await mailServer.stop();
  await models.stop();
});
