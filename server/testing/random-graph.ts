import { messageOf } from "#server/platform/errors.ts";
import type { EngineServices } from "#server/runs/ports.ts";
import { makePlan } from "#server/workflow/compile.ts";
import { findFaults, handlesOf } from "#server/workflow/graph.ts";
import { findProblems } from "#server/workflow/problems.ts";
import { Graph, type GraphNode } from "#server/workflow/schema.ts";

/** Draws a whole number from 0 to below the bound; the same seed draws the same numbers. */
export type Draw = (below: number) => number;

/** Numbers that look random (mulberry32). */
export function drawFrom(seed: number): Draw {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** A number for a text, so that an answer depends on the question alone. */
export const hashOf = (text: string): number => [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) | 0, 7) >>> 0;

const ITEMS = ["[]", "[1]", '["a","{\\"x\\":1}",null]', '[{"k":1},2]', "[[1],[2,3]]", '["x","y"]'];
const TYPES = [
  ...["agentNode", "agentNode", "agentNode", "loopNode", "loopNode", "loopNode", "branchNode", "switchNode", "outputNode", "humanLoopNode"],
  ...["setNode", "codeNode", "waitNode", "waitNode", "workflowNode"],
];
/** A call over HTTP is not made a third time, whatever killed its process: what comes of it depends on that. */
const WILD_TYPES = ["httpNode", "httpNode", "terminateNode", "terminateNode"];
/** What Workflow nodes of random graphs run. */
export const OTHER_WORKFLOW = "00000000-0000-7000-8000-000000000000";
const position = { x: 0, y: 0 };
const scope = { agentName: (id: string) => `Agent ${id}` };

function pick<Item>(draw: Draw, items: readonly Item[]): Item {
  const item = items[draw(items.length)];
  if (item === undefined) throw new Error("Nothing to pick from.");
  return item;
}

function dataOf(draw: Draw, type: string, id: string, text: string, isWild: boolean): Record<string, unknown> {
  const onError = () => (isWild && draw(2) === 0 ? "fail" : "continue");
  switch (type) {
    case "agentNode":
      return { agent_id: id, input: text, on_error: onError() };
    case "loopNode": {
      const loop = { items_expression: pick(draw, ITEMS), concurrency: 1 + draw(3), on_item_error: onError() };
      return isWild && draw(10) === 0 ? { ...loop, max_iterations: 1 } : loop;
    }
    case "branchNode":
      return { condition: pick(draw, ["True", "False"]) };
    case "outputNode":
      return isWild && draw(8) === 0 ? { value: text, format: "json" } : { value: text };
    case "humanLoopNode":
      return isWild ? { timeout_hours: draw(3) === 0 ? 1 : 0 } : {};
    case "switchNode": {
      const cases = ["a", "b"].map((id) => ({ id, label: id.toUpperCase(), condition: pick(draw, ["True", "False"]) }));
      return { cases, on_error: onError() };
    }
    case "setNode": {
      const field = { name: "x", value: text, type: draw(4) === 0 ? "number" : "text" };
      return { fields: [field], keep_input: draw(2) === 0, on_error: onError() };
    }
    case "codeNode":
      return { code: "x", inputs: [{ name: "x", value: text }], on_error: onError() };
    case "waitNode": {
      const mode = pick(draw, ["for", "until", "callback"]);
      // One that would be over sooner or later, depending on how the run is played, is for wild ones.
      return { mode, seconds: 60, until: "1970-01-01T01:00:00Z", timeout_hours: isWild ? 1 : 8000 };
    }
    case "workflowNode":
      return { workflow_id: OTHER_WORKFLOW, input: text, on_error: onError() };
    case "httpNode":
      return { method: pick(draw, ["GET", "POST"]), url: "http://example.com/", body_type: "text", body: text, on_error: onError() };
    default:
      return { status: pick(draw, ["failed", "completed"]) };
  }
}

function randomNodes(draw: Draw, isWild: boolean): GraphNode[] {
  const types = isWild ? [...TYPES, ...WILD_TYPES] : TYPES;
  const nodes: GraphNode[] = [{ id: "t", type: "triggerNode", position, data: { label: "t" } }];
  for (let left = 2 + draw(9); left > 0; left--) {
    const type = pick(draw, types);
    const id = `${type.slice(0, 1)}${nodes.length}`;
    const loops = nodes.filter((node) => node.type === "loopNode");
    const reads = loops.length > 0 && draw(3) === 0;
    const text = reads ? `{{${pick(draw, loops).id}.${pick(draw, ["output", "current_item", "index"])}}}` : "";
    nodes.push({ id, type, position, data: { label: id, ...dataOf(draw, type, id, text, isWild) } });
  }
  return nodes;
}

function randomEdges(draw: Draw, nodes: readonly GraphNode[], isWild: boolean): Graph["edges"] {
  const edges = new Map<string, Graph["edges"][number]>();
  for (const [at, target] of nodes.entries()) {
    if (at === 0) continue;
    const count = 1 + Number(draw(3) === 0) + Number(draw(4) === 0);
    for (let k = 0; k < count; k++) {
      const source = nodes[Math.max(0, at - 1 - draw(4))];
      if (!source || source.type === "terminateNode") continue;
      const isTameReview = source.type === "humanLoopNode" && !isWild;
      const handles = isTameReview ? ["approved", "rejected"] : handlesOf(source);
      const sourceHandle = handles ? pick(draw, handles) : undefined;
      const id = `${source.id}.${sourceHandle ?? ""}>${target.id}`;
      edges.set(id, { id, source: source.id, target: target.id, ...(sourceHandle && { sourceHandle }) });
    }
  }
  return [...edges.values()];
}

/** Drops connections that a save refuses. */
function dropFaults(graph: Graph): void {
  for (let round = 0; round < 6; round++) {
    const faults = findFaults(graph).filter(({ path }) => path.startsWith("edges."));
    const indexes = new Set(faults.map(({ path }) => Number(path.slice("edges.".length))));
    graph.edges = graph.edges.filter((_, index) => !indexes.has(index));
  }
}

/** Empties texts, and turns loops into Output nodes, that the start of a run refuses. */
function dropProblems(graph: Graph): void {
  for (let round = 0; round < 3; round++)
    for (const { node_id, field } of findProblems(graph, scope)) {
      const node = graph.nodes.find(({ id }) => id === node_id);
      if (node && field !== null) node.data = JSON.parse(JSON.stringify(node.data).replaceAll(/\{\{.*?\}\}/g, ""));
      else if (node?.type === "loopNode" && field === null) {
        node.type = "outputNode";
        const plain = graph.edges.map(({ id, source, target, ...rest }) =>
          source === node.id ? { id, source, target } : { id, source, target, ...rest },
        );
        graph.edges = [...new Map(plain.map((edge) => [`${edge.source}.${edge.sourceHandle ?? ""}>${edge.target}`, edge])).values()];
      }
    }
}

/** Code and calls over HTTP that answer by what they are given: some fail, always the same ones. */
export function randomEffects(draw: Draw): Pick<EngineServices, "runCode" | "callHttp"> {
  const work = async (signal: AbortSignal) => {
    for (let turns = draw(4); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
  };
  return {
    async runCode({ inputs }, signal) {
      await work(signal);
      const text = inputs.x ?? "";
      return hashOf(text) % 5 === 0 ? { failure: "no code", printed: "a" } : { output: `code<${text}>`.slice(0, 200), printed: "b" };
    },
    async callHttp({ method, body }, signal) {
      await work(signal);
      const text = body?.text ?? "";
      return { status: hashOf(method + text) % 5 ? 200 : 500, headers: { "x-made": method }, text: `http<${text}>`.slice(0, 200) };
    },
  };
}

/** How a run ends that a node waits for: some fail, always the same ones. */
export const childEnd = (node_id: string, iteration: string) =>
  hashOf(`${node_id} ${iteration}`) % 4
    ? { status: "completed", output: `run<${node_id}>`, error: null }
    : { status: "failed", output: null, error: `no run of ${node_id}` };

/**
 * A random graph with loops, branches, waits of each kind, code and, if wild, calls over HTTP, ends and failures.
 * @param isWild false for one whose result does not depend on the order in which things happen
 * @returns undefined when a save or the start of a run would refuse it
 */
export function randomGraph(seed: number, isWild: boolean): Graph | undefined {
  const draw = drawFrom(seed);
  const nodes = randomNodes(draw, isWild);
  const graph = Graph.parse({ nodes, edges: randomEdges(draw, nodes, isWild) });
  dropFaults(graph);
  if (findFaults(graph).length > 0) return undefined;
  dropProblems(graph);
  return findFaults(graph).length > 0 || findProblems(graph, scope).length > 0 ? undefined : graph;
}

/** What is needed to see what went wrong with a random graph. */
export function failureOf(seed: number, graph: Graph, error: unknown): string {
  const nodes = graph.nodes.map(({ id, data }) => `${id}${JSON.stringify(data)}`).join(" ");
  const edges = graph.edges.map(({ id }) => id).join(" ");
  return `seed ${seed}: ${messageOf(error)}\n${nodes}\n${edges}`;
}

/** Which reviews are rejected. A rejection counts for the loop that it is in, so only those with a way out there are the same in any order. */
export function tameRejections(graph: Graph): (node_id: string, iteration: string) => boolean {
  const plan = makePlan(graph);
  const around = (id: string) => plan.loopsAround(id).join();
  const ways = graph.edges.filter((edge) => edge.sourceHandle === "rejected" && around(edge.source) === around(edge.target));
  const handled = new Set(ways.map(({ source }) => source));
  return (node_id, iteration) => handled.has(node_id) && hashOf(`${node_id} ${iteration}`) % 2 === 0;
}

/**
 * Plays random graphs; a failure names the seed and the graph.
 * @param isWild as `randomGraph` has it
 * @returns how many there were: not each seed gives one
 */
export async function playGraphs(
  firstSeed: number,
  seeds: number,
  isWild: boolean,
  play: (graph: Graph, seed: number) => Promise<void>,
): Promise<number> {
  let played = 0;
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const graph = randomGraph(seed, isWild);
    if (!graph) continue;
    played += 1;
    await play(graph, seed).catch((error: unknown) => {
      throw new Error(failureOf(seed, graph, error), { cause: error });
    });
  }
  return played;
}
