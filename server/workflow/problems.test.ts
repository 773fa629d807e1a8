import { describe, expect, it } from "vitest";
import { makePlan } from "#server/workflow/compile.ts";
import { checkSave, findFaults } from "#server/workflow/graph.ts";
import { MAX_LISTED_LENGTH, runAtOnce } from "#server/workflow/listing.ts";
import { checkGraph } from "#server/workflow/problems.ts";
import { type Graph, type GraphNode, graphInputShape } from "#server/workflow/schema.ts";

const node = (id: string, type: string, data: Record<string, unknown> = {}): GraphNode => ({
  id,
  type,
  position: { x: 0, y: 0 },
  data: { label: id, ...data },
});
const trigger = node("t", "triggerNode", { kind: "manual" });
const edge = (source: string, target: string, sourceHandle?: string) => ({
  id: `${source}>${target}`,
  source,
  target,
  ...(sourceHandle && { sourceHandle }),
});
const scope = { agentName: (id: string) => (id === "reserved" ? "execution" : "Scout") };
const check = (graph: Graph) => runAtOnce(checkGraph(graph, scope));
const warnings = (graph: Graph) => check(graph).problems.flatMap(({ severity, message }) => (severity === "warning" ? [message] : []));
const bytes = (value: unknown) => JSON.stringify(value).length;

/** 1,900 nodes in a row, and 7,921 connections back from the last 89 to the first 89. */
function backEdges(): Graph {
  const ids = Array.from({ length: 1900 }, (_, index) => `n${index}`);
  const nodes = [trigger, ...ids.map((id) => node(id, "outputNode"))];
  const row = ids.slice(1).map((id, index) => edge(`n${index}`, id));
  const back = ids.slice(-89).flatMap((source) => ids.slice(0, 89).map((target) => edge(source, target)));
  return { nodes, edges: [edge("t", "n0"), ...row, ...back] };
}

describe("bounds", () => {
  it("lists 50 of the connections that close a cycle", () => {
    const faults = runAtOnce(checkSave(backEdges()));

    expect(faults.total).toBe(7921);
    expect(faults.items).toHaveLength(50);
    expect(bytes(faults.items)).toBeLessThan(50 * 800);
  });

  it("leaves no cycle in what is not at fault", () => {
    const graph = backEdges();
    const wrong = new Set(findFaults(graph, 10_000).map(({ path }) => path));
    const rest = graph.edges.filter((_, index) => !wrong.has(`edges.${index}`));

    expect(rest).toHaveLength(1900);
    expect(findFaults({ ...graph, edges: rest })).toEqual([]);
  });

  it("counts 300,000 references, of which it describes 50", () => {
    const text = "{{nobody.output}}".repeat(10_000);
    const nodes = Array.from({ length: 30 }, (_, index) => node(`o${index}`, "outputNode", { value: text }));
    const { problems, total, errors } = check({ nodes: [trigger, ...nodes], edges: nodes.map(({ id }) => edge("t", id)) });

    expect([total, errors]).toEqual([300_000, 300_000]);
    expect(problems).toHaveLength(50);
    expect(bytes(problems)).toBeLessThan(50 * 800);
  });

  it("divides a graph into the bodies of 100 loops", () => {
    const ids = Array.from({ length: 1990 }, (_, index) => `l${index}`);
    const nodes = [trigger, ...ids.map((id) => node(id, "loopNode", { items_expression: "{{trigger.output}}" }))];
    const graph = { nodes, edges: [edge("t", "l0"), ...ids.slice(1).map((id, index) => edge(`l${index}`, id, "body"))] };

    expect(findFaults(graph).map(({ message }) => message)).toEqual([expect.stringContaining("1990 loops, and 100 are allowed")]);
    expect(makePlan(graph).loopsAround("l1989")).toHaveLength(100);
  });

  it("cuts each text at 500 characters", () => {
    const long = "x".repeat(100_000);
    const graph = { nodes: [trigger, node("a", "agentNode", { label: long, agent_id: "a", timeout: "1" })], edges: [edge("t", "a")] };

    expect(findFaults(graph)).toHaveLength(2);
    for (const { message, path } of findFaults(graph)) expect(Math.max(message.length, path.length)).toBeLessThanOrEqual(MAX_LISTED_LENGTH);
    for (const { message } of check(graph).problems) expect(message.length).toBeLessThanOrEqual(MAX_LISTED_LENGTH);
  });

  it("lists errors before warnings", () => {
    const lonely = Array.from({ length: 60 }, (_, index) =>
      node(`n${index}`, "outputNode", { value: index === 59 ? "{{gone.output}}" : "" }),
    );
    const { problems, total, errors } = check({ nodes: [trigger, ...lonely], edges: [] });

    expect([total, errors]).toEqual([61, 1]);
    expect(problems[0]).toMatchObject({ node_id: "n59", severity: "error" });
    expect(problems).toHaveLength(50);
  });

  it.each([
    ["fields of its data", { data: Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`k${index}`, 1])) }],
    ["nested fields", { data: { a: [{ b: Array.from({ length: 10_000 }, () => 1) }] } }],
    ["fields beside its data", Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`k${index}`, 1]))],
  ])("refuses a node with more than 10,000 %s", (_, more) => {
    const { error } = graphInputShape.nodes.safeParse([trigger, { ...node("a", "outputNode"), ...more }]);

    expect(error?.issues).toMatchObject([{ path: [1], message: expect.stringContaining("10,000 keys") }]);
  });

  it("accepts a node with 9,000 keys", () => {
    const data = Object.fromEntries(Array.from({ length: 9000 }, (_, index) => [`k${index}`, 1]));

    expect(graphInputShape.nodes.safeParse([node("a", "outputNode", data)]).success).toBe(true);
  });
});

describe("conditions", () => {
  const branch = (condition: string): Graph => ({
    nodes: [trigger, node("Scout it", "agentNode", { agent_id: "a" }), node("b", "branchNode", { condition })],
    edges: [edge("t", "Scout it"), edge("Scout it", "b")],
  });
  const found = (condition: string) => check(branch(condition)).problems.map(({ severity, message }) => `${severity}: ${message}`);

  it.each([
    'node_outputs["Scout it"] == "yes"',
    "'x' in node_outputs['Scout']",
    'node_outputs.get("Later", "") == ""',
    'len(output) > 5 and float(output) < 3 and output.count("a") >= 2',
    'json.loads(output)["score"] > 5',
    "output.strip() == '5' # {{trigger.output}} > 5",
    're.search(f"{{x}}", output)',
  ])("accepts %s", (condition) => expect(found(condition)).toEqual([]));

  it("finds an unknown name, with the nearest one", () => {
    expect(found('node_outputs["Scuot"] == "x"')).toEqual([
      expect.stringMatching(/^error: node_outputs\["Scuot"\].*Did you mean "Scout"\?/),
    ]);
  });

  it.each(['{{trigger.output}} == "x"', '"{{Scout.output}}" == "x"'])("warns of braces in %s", (condition) =>
    expect(found(condition)).toEqual([expect.stringContaining("warning: A condition does not replace")]),
  );

  it.each(["output > 5", "5 <= trigger_output", 'node_outputs["Scout"] == 5', "output.strip() != -1.5", "3 < output and True"])(
    "warns of the number in %s",
    (condition) => expect(found(condition)).toEqual([expect.stringContaining("warning: This compares a text with a number")]),
  );

  it("reads a condition of unclosed quotes in one pass", () => {
    const condition = `node_outputs[${"'\\".repeat(4900)}`;

    expect(check(branch(condition)).errors).toBe(0);
  });
});

describe("warnings", () => {
  it("names the field that was probably meant", () => {
    const review = node("r", "humanLoopNode", { timeout_hour: 5 });
    const { problems } = check({ nodes: [trigger, review], edges: [edge("t", "r")] });

    expect(problems).toMatchObject([
      { node_id: "r", field: "timeout_hour", severity: "warning", message: expect.stringContaining('Did you mean "timeout_hours"?') },
    ]);
  });

  it("knows the fields that the service writes", () => {
    const agent = node("a", "agentNode", { agent_id: "", imported_agent: {}, to_do: "Choose an agent" });

    expect(warnings({ nodes: [trigger, agent], edges: [edge("t", "a")] })).toEqual([]);
  });

  it("tells of a node that nothing leads to", () => {
    const graph = { nodes: [trigger, node("o", "outputNode"), node("n", "noteNode")], edges: [] };

    expect(warnings(graph)).toEqual(['Nothing leads to "o", so it never runs.']);
  });

  it.each<[string, GraphNode[]]>([
    ["a label", [trigger, node("a", "outputNode", { label: "trigger" })]],
    ["a parameter", [node("t", "triggerNode", { kind: "params", parameters: [{ name: "output" }] }), node("a", "outputNode")]],
    ["an agent", [trigger, node("a", "agentNode", { agent_id: "reserved" })]],
  ])("tells of %s with a reserved name", (_, nodes) => {
    const graph = { nodes, edges: [edge("t", "a")] };

    expect(warnings(graph)).toHaveLength(1);
    expect(check(graph).errors).toBe(0);
  });
});

describe("reserved names at a save", () => {
  const labelled = (label: string): Graph => ({ nodes: [trigger, node("a", "outputNode", { label })], edges: [edge("t", "a")] });
  const withParameter = (name: string): Graph => ({
    nodes: [node("t", "triggerNode", { kind: "params", parameters: [{ name }] })],
    edges: [],
  });
  const faults = (graph: Graph, stored?: Graph) => runAtOnce(checkSave(graph, stored)).items.map(({ path }) => path);

  it.each(["trigger", "execution", "credentials", "a {{b}}"])("refuses the new label %s", (label) =>
    expect(faults(labelled(label), labelled("a"))).toEqual(["nodes.1.data.label"]),
  );

  it("refuses a new parameter named output", () => {
    expect(faults(withParameter("output"), withParameter("city"))).toEqual(["nodes.0.data.parameters.0.name"]);
  });

  it("keeps stored names", () => {
    expect(faults(labelled("trigger"), labelled("trigger"))).toEqual([]);
    expect(faults(withParameter("output"), withParameter("output"))).toEqual([]);
  });

  it("lets the trigger have its name", () => {
    expect(faults({ nodes: [{ ...trigger, data: { label: "trigger" } }], edges: [] })).toEqual([]);
  });
});
