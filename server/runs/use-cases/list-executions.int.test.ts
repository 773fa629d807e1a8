import { beforeAll, expect, test } from "vitest";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { pool } from "#server/platform/db/client.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { ListExecutionsInput } from "#server/runs/schema.ts";
import { MOST_FOUND } from "#server/runs/store/find-executions.ts";
import { addMissingWords } from "#server/runs/store/missing-words.ts";
import { listExecutions } from "#server/runs/use-cases/list-executions.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { startStoredRun, storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
beforeAll(async () => {
  admin = await database.newAdmin();
});

const list = (filter: Record<string, unknown>, who = admin) => listExecutions(who, ListExecutionsInput.parse(filter));
const found = async (filter: Record<string, unknown>, who = admin) => (await list(filter, who)).items.map(({ id }) => id).sort();
const graph = (value: string) => graphOf({ nodes: { Start: ["triggerNode"], Out: ["outputNode", { value }] }, edges: ["Start>Out"] });

/** A run that has ended; the input of a stored run is x. */
async function ran(value: string, who = admin): Promise<string> {
  const id = await startStoredRun(who, graph(value));
  await claimAndExecute(storedServices(), id, 60);
  return id;
}

test("runs are found by words of input, output and error, by their beginnings, in any script, and never another project's", async () => {
  const other = await database.newAdmin();
  const late = await ran("Die Rechnung für Äpfel 4711, sent to ada@example.com");
  const asian = await ran("北京天气 very good");
  const failing = await startStoredRun(
    admin,
    graphOf({ nodes: { Start: ["triggerNode"], Agent: ["agentNode", { agent_id: "any", retries: 0 }] }, edges: ["Start>Agent"] }),
  );
  const services = storedServices({
    callAgent: () => Promise.reject(new Error("The quota is used up.")),
  });
  await claimAndExecute(services, failing, 60);
  await ran("Rechnung of somebody else", other);

  expect(await found({ q: "rechnung" })).toEqual([late]);
  expect(await found({ q: "ÄPF 47" })).toEqual([late]);
  expect(await found({ q: "example.com" })).toEqual([late]);
  expect(await found({ q: "天气" })).toEqual([asian]);
  expect(await found({ q: "quota" })).toEqual((await list({ status: "failed" })).items.map(({ id }) => id));
  expect(await found({ q: "rechnung good" })).toEqual([]);
  expect(await found({ q: "% & | ' \\" })).toEqual([]);
  expect(await found({ q: "'; DROP | good" })).toEqual([]);
  for (const q of [late, late.slice(0, 13), late.replaceAll("-", "").toUpperCase(), `https://treadle.example/runs/${late}?node=a`])
    expect(await found({ q })).toContain(late);
  expect(await found({ q: late }, other)).toEqual([]);
});

test.each([
  ["entreprise", "L’entreprise"],
  ["ecrire", "Écrire"],
  ["Wasserwerk", "Wasser\u00adwerk"],
  ["strasse", "Straße"],
  ["istanbul", "İstanbul"],
  ["환불", "환불은"],
  ["Übersicht", "U\u0308bersicht"],
])("finds by %s a run with %s", async (q, text) => {
  const own = await database.newAdmin();
  const id = await ran(`It says ${text}.`, own);

  expect(await found({ q }, own)).toEqual([id]);
});

test("finds runs of the previous release by the words that it indexed", async () => {
  const own = await database.newAdmin();
  const id = await ran("Wasser\u00adwerk Äpfel", own);
  await pool().query(
    `UPDATE execution_values
     SET words = array_to_tsvector(ARRAY['wasser', 'werk', 'äpfel', 'project:' || $2::text])
     WHERE execution_id = $1`,
    [id, own.project.id],
  );

  expect(await found({ q: "Wasser\u00adwerk äpf" }, own)).toEqual([id]);
});

test("runs that are older than the search get their words in the background, also one that ends before it has them", async () => {
  const own = await database.newAdmin();
  const [before, under_way] = [await ran("an ÄLTERE thing", own), await startStoredRun(own, graph("ältere too"))];
  await pool().query("UPDATE execution_values SET words = NULL WHERE execution_id = ANY($1::uuid[])", [[before, under_way]]);
  await claimAndExecute(storedServices(), under_way, 60);
  expect(await found({ q: "ältere" }, own)).toEqual([]);
  await addMissingWords();
  expect(await found({ q: "ältere", trigger: "manual" }, own)).toEqual([before, under_way].sort());
});

test("status, trigger and time narrow the list, alone and together with words", async () => {
  const own = await database.newAdmin();
  const [one, two] = [await ran("a looming thing", own), await ran("another loom", own)];
  await pool().query("UPDATE executions SET created_at = now() - interval '3 days' WHERE id = $1", [one]);
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  const filters: [Record<string, unknown>, string[]][] = [
    [{ status: "completed,failed" }, [one, two]],
    [{ status: "failed,paused" }, []],
    [{ status: "completed,paused" }, [one, two]],
    [{ trigger: "manual" }, [one, two]],
    [{ trigger: "api,webhook" }, []],
    [{ from: ago(1) }, [two]],
    [{ to: ago(1), status: "completed" }, [one]],
    [{ from: ago(4), to: ago(2), q: "loom" }, [one]],
    [{ q: "loom", trigger: "manual,api", status: "completed" }, [one, two]],
    [{ q: "loom", trigger: "schedule" }, []],
  ];
  for (const [filter, ids] of filters) {
    const { total, items, ...rest } = await list({ ...filter, page: 1 }, own);
    expect([filter, items.map(({ id }) => id).sort(), total, rest]).toEqual([
      filter,
      [...ids].sort(),
      ids.length,
      { page: 1, per_page: 50 },
    ]);
  }
  expect((await list({ q: "loom", per_page: 1, page: 2 }, own)).items.map(({ id }) => id)).toEqual([one]);
});

test("of more than 10,000 that match, so many can be paged through, and it is said that there are more", async () => {
  const own = await database.newAdmin();
  const first = await ran("the one needle", own);
  await pool().query(
    `WITH made AS (
       INSERT INTO executions (id, project_id, workflow_id, snapshot_id, status, trigger, created_at, completed_at)
       SELECT gen_random_uuid(), project_id, workflow_id, snapshot_id, 'completed', 'api', now() - make_interval(secs => n), now()
       FROM executions, generate_series(1, $2::int) AS n WHERE id = $1 RETURNING id, project_id)
     INSERT INTO execution_values (execution_id, words)
     SELECT id, array_to_tsvector(ARRAY['project:' || project_id, 'trigger:api', 'straw']) FROM made`,
    [first, MOST_FOUND + 1],
  );
  const many = await list({ q: "straw", per_page: 200 }, own);
  expect(many).toMatchObject({ total: MOST_FOUND, total_is_partial: true });
  expect(many.items).toHaveLength(200);
  const times = many.items.map(({ created_at }) => created_at);
  expect(times).toEqual(times.toSorted().reverse());
  expect((await list({ q: "straw", per_page: 200, page: 50 }, own)).items).toHaveLength(200);
  expect((await list({ q: "straw", per_page: 200, page: 51 }, own)).items).toEqual([]);
  expect(await list({ trigger: "api", per_page: 1 }, own)).toMatchObject({ total: MOST_FOUND, total_is_partial: true });
  expect(await list({ to: new Date(Date.now() + 60_000).toISOString(), per_page: 1 }, own)).toMatchObject({ total_is_partial: true });
  expect(await list({ q: "needle" }, own)).toMatchObject({ total: 1, items: [{ id: first }] });
});
