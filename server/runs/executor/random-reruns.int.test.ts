import { beforeAll, expect, test } from "vitest";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { endSome, Killed, mortal, mortalServices } from "#server/testing/mortal-run.ts";
import { type Draw, drawFrom, OTHER_WORKFLOW, playGraphs, tameRejections } from "#server/testing/random-graph.ts";
import { collectEvents } from "#server/testing/reviews.ts";
import { startStoredRun } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";
import { times } from "#server/testing/times.ts";
import { makePlan } from "#server/workflow/compile.ts";
import type { Graph } from "#server/workflow/schema.ts";

// Random graphs whose result depends on no order, on the real store: calmly, with deaths and short segments, and once more
// from a node in the middle, with what the run before left.

const GRAPHS = times(10);
const MOST_DEATHS = 4;
const MOST_SEGMENTS = 400;

const database = testDatabase();
let admin: ProjectPrincipal;
beforeAll(async () => {
  admin = await database.newAdmin();
  setSettings({ EXECUTIONS_PER_HOUR: "0" });
  const project_id = admin.project.id;
  const key = await db().llmKey.create({ data: { project_id, name: "Key", provider: "openai", sealed_key: "x", masked_key: "x" } });
  const agents = Array.from({ length: 12 }, (_, at) => ({
    id: agentOf(`a${at}`),
    project_id,
    name: `Agent a${at}`,
    model: "m",
    llm_key_id: key.id,
  }));
  await db().agent.createMany({ data: agents });
  const { id } = await createWorkflow(admin, { name: "Other" });
  await db().workflow.update({ where: { id }, data: { id: OTHER_WORKFLOW } });
  collectEvents();
});

/** A rerun asks for agents and workflows that exist: an agent for each node that may be drawn. */
const agentOf = (node_id: string): string => `00000000-0000-7000-8000-${node_id.padStart(12, "0")}`;

type Rejects = (node_id: string, iteration: string) => boolean;

/** Plays a run to its end; calmly, nothing dies and one segment has time for all that is ready. */
async function play(execution_id: string, draw: Draw, rejects: Rejects, isCalm: boolean): Promise<void> {
  let deaths = 0;
  const mayDie = () => {
    const isTime = !isCalm && deaths < MOST_DEATHS && draw(4) === 0;
    deaths += Number(isTime);
    return isTime;
  };
  for (let segment = 0; segment < MOST_SEGMENTS; segment++) {
    const { store, life } = mortal(mayDie);
    const seconds = isCalm || draw(3) === 0 ? 60 : 0.005 * (1 + draw(6));
    const kind = await claimAndExecute(mortalServices(draw, store), execution_id, seconds).then(
      (outcome) => outcome.kind,
      (error: unknown) => {
        if (error instanceof Killed) return "killed" as const;
        throw error;
      },
    );
    if (life.isDead) await pool().query("UPDATE executions SET lease_until = NULL WHERE id = $1", [execution_id]);
    if (kind === "over") return;
    if (kind === "waiting") await endSome(admin, execution_id, draw, rejects);
  }
  throw new Error("It never ends.");
}

/** What must be the same however a run is played. */
async function pictureOf(execution_id: string) {
  const { status, error, values } = await db().execution.findUniqueOrThrow({ where: { id: execution_id }, include: { values: true } });
  const runs = await db().nodeRun.findMany({ where: { execution_id, is_interrupted: false } });
  const kept = await db().nodeRunValues.findMany({ where: { node_run_id: { in: runs.map(({ id }) => id) } } });
  const outputs = new Map(kept.map(({ node_run_id, output }) => [node_run_id, output]));
  const shown = runs.map(
    (row) => `${row.node_id}:${row.iteration}:${row.handle ?? ""} ${row.status} ${row.error ?? outputs.get(row.id) ?? ""}`,
  );
  return { status, error, outputs: values?.outputs, rows: shown.sort() };
}

async function playGraph(graph: Graph, seed: number): Promise<void> {
  const rejects = tameRejections(graph);
  for (const { id, type, data } of graph.nodes) if (type === "agentNode") data.agent_id = agentOf(id);
  const [calm, broken] = [await startStoredRun(admin, graph, "in"), await startStoredRun(admin, graph, "in")];
  await play(calm, drawFrom(seed), rejects, true);
  await play(broken, drawFrom(seed * 7), rejects, false);
  const expected = await pictureOf(calm);
  expect(await pictureOf(broken)).toEqual(expected);
  const draw = drawFrom(seed * 11);
  const top = makePlan(graph).scopes.get(null)?.nodeIds ?? [];
  let execution_id = broken;
  for (let round = 0; round < 2; round++) {
    const from_node_id = top[draw(top.length)];
    if (from_node_id === undefined) throw new Error("There is no node to run again.");
    ({ execution_id } = await rerunExecution(admin, { execution_id, from_node_id, use_current: false }));
    await play(execution_id, draw, rejects, false);
    expect(await pictureOf(execution_id), `again from ${from_node_id}`).toEqual(expected);
  }
}

test(
  "a graph whose result depends on no order ends the same in the database, also from a node in the middle",
  async () => {
    expect(await playGraphs(500_001, GRAPHS, false, playGraph)).toBeGreaterThan(GRAPHS / 2);
  },
  times(60_000),
);
