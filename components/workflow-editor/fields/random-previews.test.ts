import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { applyEvent, compareIterations, type RunSnapshot, snapshotOf } from "#components/runs/store/run-snapshot.ts";
import {
  conditionTrialInput,
  type LastRun,
  lastFrame,
  lastScope,
  lastUpstream,
  previewOf,
  type ReadableScope,
  readableAt,
} from "#components/workflow-editor/fields/last-values.ts";
import { Attempts } from "#server/runs/executor/attempt.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import type { Frame } from "#server/runs/executor/frame.ts";
import { RunNames, upstreamOutput } from "#server/runs/executor/run-scope.ts";
import { ITEM, type LedgerRow } from "#server/runs/ports.ts";
import { type Execution, idleResult } from "#server/runs/schema.ts";
import { testServices } from "#server/testing/engine-services.ts";
import { memoryStore } from "#server/testing/memory-store.ts";
import { childEnd, type Draw, drawFrom, hashOf, playGraphs, randomEffects } from "#server/testing/random-graph.ts";
import { times } from "#server/testing/times.ts";
import { compileGraph } from "#server/workflow/compiled-graph.ts";
import { outputOf } from "#server/workflow/expression-scope.ts";
import { slugOf } from "#server/workflow/expressions.ts";
import { definitionOf, fieldsOf, findFaults, namesOf } from "#server/workflow/graph.ts";
import { canPin, pinFault, pinOf, withPins } from "#server/workflow/pins.ts";
import { findProblems } from "#server/workflow/problems.ts";
import type { Scope } from "#server/workflow/resolve-expressions.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";

// Compares the values that a node could read when it started with the editor's preview of the same run.

const GRAPHS = times(50);
const MOST_SEGMENTS = 500;
/** More than the deadline of any wait, in milliseconds. */
const LATER_MS = 8001 * 3_600_000;
const SECRET = "s3cret-value-0123456789";
const scope = { agentName: (id: string) => `Agent v${id}.0`, credentialNames: ["TOKEN"] };
const PATHS = ["output.x", "output[0]", "output | length"];

/** Reads of one node at one moment of a run. */
interface Reads {
  path: string;
  values: (Candidate & { value: string })[];
  outputs: Record<string, string>;
  upstream: [content: string, literal: string];
}
type Played = ReturnType<typeof memoryStore> & { reads: Map<string, Reads> };

/** A value or the kind of its absence. */
function shownValue(expression: string, of: Scope): string {
  const [part] = previewOf(`{{${expression}}}`, of);
  return part?.kind === "value" ? `value ${part.text}` : "not available";
}

const COMMON = ["trigger.output", "trigger.raw", "trigger.a[0]", "trigger.headers.X-Id", "execution.id", "nothing.output"];

/** An expression with the nodes whose names it may begin with. */
interface Candidate {
  expression: string;
  nodes: GraphNode[];
}

/** Names that expressions at a node can read, with or without a value. */
function candidatesAt({ graph, visible }: ReadableScope): Candidate[] {
  const bearers = Map.groupBy(namesOf(graph, scope), ({ name }) => slugOf(name));
  const ofNodes = [...bearers].flatMap(([slug, named]): Candidate[] => {
    const nodes = named.map(({ node }) => node);
    // A node that does not come before this one may have ended or not.
    if (!nodes.every((node) => visible.has(node))) return [];
    const fields = nodes.flatMap((node) => [...fieldsOf(node), ...(definitionOf(node.type)?.body?.fields ?? [])]);
    const reads = [...new Set(named.map(({ name }) => name))].flatMap((name) => [...fields, ...PATHS].map((field) => `${name}.${field}`));
    return [...new Set([...reads, `${slug}.output`, `${slug}.nothing`])].map((expression) => ({ expression, nodes }));
  });
  return [...ofNodes, ...COMMON.map((expression) => ({ expression, nodes: [] }))];
}

/** Adds to a random graph what it has not: kinds of triggers, pins, nodes that are switched off, agents with several nodes. */
function enrich(graph: Graph, draw: Draw): boolean {
  for (const node of graph.nodes) {
    if (node.type === "agentNode" && draw(2) === 0) node.data.agent_id = "shared";
    if (node.type === "triggerNode") continue;
    if (draw(8) === 0) node.data.disabled = true;
    const output = ["pinned", "[1,2]", "approved: fine", "True"][draw(4)] ?? "";
    if (draw(8) === 0 && canPin(node) && pinFault(node, output) === null) node.data.pinned = { output };
    if (node.type === "humanLoopNode" && draw(2) === 0) {
      node.data.choices = ["rejected", "approved"].map((id) => ({ id, label: id, style: id === "approved" ? "primary" : "danger" }));
    }
  }
  return findFaults(graph).length === 0 && findProblems(withPins(graph), scope).length === 0;
}

/** Kinds of triggers with what a run of each is given. */
function triggerWith(graph: Graph, draw: Draw): { input: string; params: Record<string, unknown> } {
  const trigger = graph.nodes.find(({ type }) => type === "triggerNode");
  if (!trigger) throw new Error("There is no trigger.");
  const kinds = {
    manual: { input: "in", params: {} },
    params: { input: '{"a":[1],"b":"two"}', params: { a: [1], b: "two" } },
    webhook: { input: '{"a":"1"}', params: { headers: { "x-id": "d-1" }, raw: "a=1" } },
    http: { input: '{"body":{"a":"1"},"method":"POST"}', params: { raw: "a=1" } },
  };
  const kind = (["manual", "params", "webhook", "http"] as const)[draw(4)] ?? "manual";
  Object.assign(trigger.data, {
    kind,
    ...(kind === "params" && {
      parameters: [
        { name: "a", type: "array" },
        { name: "b", type: "text" },
      ],
    }),
  });
  return kinds[kind];
}

let watch: ((frame: Frame, id: string) => void) | undefined;
const original = Attempts.prototype.prepare;
beforeAll(() => {
  vi.spyOn(Attempts.prototype, "prepare").mockImplementation(function (this: Attempts, frame, id, row) {
    watch?.(frame, id);
    return original.call(this, frame, id, row);
  });
});
afterAll(() => {
  vi.mocked(Attempts.prototype.prepare).mockRestore();
});

async function play(graph: Graph, seed: number, given: { input: string; params: Record<string, unknown> }): Promise<Played> {
  const draw = drawFrom(seed);
  const ran = withPins(graph);
  const memory = memoryStore(ran, given);
  const reads: Played["reads"] = new Map();
  let now = 0;
  const services = testServices(memory, {
    clock: { now: () => new Date(++now) },
    agentNames: async (_, ids) => new Map(ids.map((id) => [id, scope.agentName(id)])),
    evaluate: (condition) => condition === "True",
    ...randomEffects(draw),
    callAgent: async ({ agent_id, message }) => {
      if (hashOf(agent_id + message) % 5 === 0) throw new Error(`no ${agent_id}`);
      return { output: hashOf(message) % 3 ? `${agent_id}<${message}>` : JSON.stringify({ x: message.length }) };
    },
  });
  const names = new RunNames(
    memory.run,
    scope,
    { values: { TOKEN: SECRET }, masker: undefined as never },
    (id) => services.callback(id).url,
  );
  const candidates = new Map(graph.nodes.map(({ id }) => [id, candidatesAt(readableAt(graph, id, scope))]));
  watch = (frame, id) => {
    const at = names.in(frame);
    const values = (candidates.get(id) ?? []).map((candidate) => ({ ...candidate, value: shownValue(candidate.expression, at) }));
    const compiled = compileGraph(ran);
    const upstream = [upstreamOutput(frame, id, compiled), upstreamOutput(frame, id, compiled, true)] as const;
    reads.set(`${id} ${frame.path}`, { path: frame.path, values, outputs: names.outputs(frame), upstream: [...upstream] });
  };
  for (let segment = 0; segment < MOST_SEGMENTS && !memory.ending(); segment++) {
    const outcome = await claimAndExecute(services, "run", 1e6);
    if (outcome.kind !== "waiting") continue;
    now += LATER_MS;
    for (const { node_id, iteration, reason } of memory.waiting()) {
      const hash = hashOf(`${node_id} ${iteration}${seed}`);
      if (reason === "review") memory.decide(node_id, hash % 3 ? "approved" : "rejected", hash % 2 ? "well: done" : null, iteration);
      else if (reason === "child") memory.resolve(node_id, childEnd(node_id, iteration), iteration);
      else if (reason === "callback" && hash % 2) memory.resolve(node_id, { x: node_id }, iteration);
    }
  }
  watch = undefined;
  if (!memory.ending()) throw new Error("It never ends.");
  return { ...memory, reads };
}

const isRow = ({ handle }: LedgerRow) => handle !== ITEM;

/** The snapshot of a run that has ended, from rows as `nodeResults` and `lastItems` read them. */
function snapshotOfRows({ run }: Played, graph: Graph): RunSnapshot {
  const newest = run.ledger.filter(isRow).sort((a, b) => compareIterations(a.iteration, b.iteration) || a.attempt - b.attempt);
  const shown = ({ iteration, status, attempt, started_at, completed_at, ...row }: LedgerRow) => ({
    ...idleResult,
    ...{ iteration, status, attempt, output: row.output, error: row.error },
    started_at: started_at?.toISOString() ?? null,
    duration_ms: started_at && completed_at ? completed_at.getTime() - started_at.getTime() : null,
  });
  const skipped = graph.nodes.map(({ id }) => [id, { ...idleResult, status: "skipped" as const }] as const);
  const node_results = Object.fromEntries([...skipped, ...newest.map((row) => [row.node_id, shown(row)] as const)]);
  const ended = newest.filter(({ iteration, status }) => iteration !== "" && (status === "complete" || status === "failed"));
  const sums = { count: 1, duration_ms: 0, input_tokens: 0, output_tokens: 0 };
  const item_sums = Object.fromEntries(ended.map((row) => [row.node_id, { ...sums, last: { ...shown(row), output: undefined } }]));
  return snapshotOf(executionOf(node_results, "completed"), 0, { graph, item_sums: item_sums as never });
}

/** The snapshot of a run that was followed from its beginning. */
function snapshotOfEvents(played: Played, graph: Graph): RunSnapshot {
  const start = snapshotOf(executionOf(Object.fromEntries(graph.nodes.map(({ id }) => [id, idleResult])), "running"), 0, { graph });
  return played.events().reduce((snapshot, event, index) => applyEvent(snapshot, index + 1, { execution_id: "run", ...event }), start);
}

const executionOf = (node_results: Execution["node_results"], status: Execution["status"]): Execution =>
  // cast: a snapshot reads no other fields
  ({
    ...{ node_results, status, reviews: [], input_tokens: 0, output_tokens: 0, cost: 0, cost_is_partial: false },
    ...{ output: null, error: null, created_at: new Date(0).toISOString(), duration_ms: 1 },
  }) as unknown as Execution;

/** Responses to HTTP calls, from the logs of the shown items. */
function detailsOf({ run }: Played, { nodes }: RunSnapshot): LastRun["details"] {
  const rows = run.ledger.filter((row) => isRow(row) && row.details?.status != null && row.iteration === nodes[row.node_id]?.iteration);
  return Object.fromEntries(rows.map(({ node_id, details }) => [node_id, details ?? {}]));
}

/** True where the API's answers have what a node read of another one: those of the item that the reader is shown at. */
function isAtHand(
  node: GraphNode,
  { plan, around, early }: ReadableScope,
  { snapshot }: LastRun,
  path: string,
  hasEnded: boolean,
): boolean {
  if (around.includes(node.id) || node.type === "triggerNode") return true;
  if (early.includes(node)) return false;
  // A node that a pin keeps from running is shown with the pin, also where the run went another way.
  if (pinOf(node)) return hasEnded;
  const shown = snapshot.nodes[node.id];
  const item = path.split(".").slice(0, plan.loopsAround(node.id).length).join(".");
  return shown !== undefined && !shown.isPast && shown.iteration === item;
}

/** Compares what nodes read in a run with what the editor shows of it; returns how many values it compared. */
function compare(graph: Graph, { reads, run: { ledger } }: Played, last: LastRun): number {
  let values = 0;
  for (const node of graph.nodes) {
    const path = last.snapshot.nodes[node.id]?.iteration ?? "";
    const read = reads.get(`${node.id} ${path}`);
    if (!read) continue;
    const readable = readableAt(graph, node.id, scope);
    const isSkipped = (id: string) =>
      ledger.some((row) => row.node_id === id && row.status === "skipped" && path.startsWith(row.iteration));
    const at = (other: GraphNode) => isAtHand(other, readable, last, path, !isSkipped(other.id));
    const shown = lastScope(readable, last);
    const frame = lastFrame(readable, last);
    for (const { expression, nodes, value } of read.values) {
      // The callback URL is part of the wait, the response of a server part of the log.
      if (/\.resume_url/.test(expression) && nodes.some(({ data }) => data.mode === "callback")) continue;
      if (/\.(status|headers)/.test(expression) && nodes.some(({ id, type }) => type === "httpNode" && !last.details[id])) continue;
      const seen = shownValue(expression, shown);
      // Show nothing where the API returned the value of another item.
      const isNothing =
        seen === "not available" || nodes.length > 1 || nodes.some((other) => pinOf(other) || readable.early.includes(other));
      if (!nodes.every(at) && isNothing) continue;
      expect(`${node.id} reads ${expression}: ${seen}`).toBe(`${node.id} reads ${expression}: ${value}`);
      values += Number(value.startsWith("value"));
    }
    if (![...readable.visible].every(at)) continue;
    expect([node.id, lastUpstream(readable, last), lastUpstream(readable, last, true)]).toEqual([node.id, ...read.upstream]);
    const outputs = Object.entries(conditionTrialInput(readable, last).outputs).map(([name, [id = ""]]) => [
      name,
      outputOf(frame.lookup(id) as never),
    ]);
    const known = new Set(read.values.map(({ expression }) => expression));
    const expected = Object.entries(read.outputs).filter(([name]) => known.has(`${name}.output`));
    expect(Object.fromEntries(outputs)).toMatchObject(Object.fromEntries(expected));
  }
  return values;
}

test(
  "shows what each node read in a random run",
  async () => {
    let values = 0;
    for (const isWild of [false, true])
      await playGraphs(isWild ? 200_001 : 1, GRAPHS, isWild, async (graph, seed) => {
        const draw = drawFrom(seed);
        const { input, params } = triggerWith(graph, draw);
        if (!enrich(graph, draw)) return;

        const played = await play(graph, seed, { input, params });

        const isForm = graph.nodes.some(({ data }) => data.kind === "params");
        for (const snapshot of [snapshotOfRows(played, graph), snapshotOfEvents(played, graph)]) {
          const details = detailsOf(played, snapshot);
          values += compare(graph, played, { executionId: "run", snapshot, input, params: isForm ? {} : params, details });
        }
      });
    expect(values).toBeGreaterThan(GRAPHS * 50);
  },
  times(30_000),
);
