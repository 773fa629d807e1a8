import type { CardDetail } from "#server/features/assistant/schema.ts";
import type { Canvas, CanvasData, WidgetData } from "#server/features/canvases/schema.ts";
import { AppError } from "#server/platform/errors.ts";
import { masked } from "#server/platform/mask-scope.ts";
import type { Execution, NodeLog } from "#server/runs/schema.ts";
import { comparableJson } from "#server/shared/canonical-json.ts";
import { makePlan } from "#server/workflow/compile.ts";
import { definitionOf, labelOf } from "#server/workflow/graph.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";

// How things look to the model: compact JSON in which nothing is long.

/** Longest result of a tool, in characters. */
export const MAX_RESULT = 8000;
/** Of a node whose log is asked for by itself. */
export const MAX_WHOLE = 40_000;
/** Nodes that are shown of a long run. */
const MOST_NODES = 40;

/** A text, cut to what is shown of it; one that was cut says so. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  // A secret that is cut in two is not recognised any more.
  return `${masked(text).slice(0, most).toWellFormed()}… [cut: ${text.length.toLocaleString("en")} characters in all]`;
}

/** What others have written, as part of a sentence for people: in one line, so that it looks like nothing but a quotation. */
export const quote = (text: string, most: number): string => `“${cut(text.replace(/\s+/g, " ").trim().replace(/[“”]/g, '"'), most)}”`;

/** Of a text that a person approves, what stands in the card's sentence. */
const SHOWN = 2000;
/** Most characters that one card can show in all. */
const MOST_SHOWN = 200_000;

/** The texts that a card asks approval for: quoted in its sentences, and whole beside them where that cuts them. */
export class ApprovedTexts {
  readonly details: CardDetail[] = [];
  #shown = 0;

  /**
   * @param label what it is, in words: `the input`
   * @returns its beginning, as a quotation
   * @throws AppError CONFLICT for more than a card can show: nobody approves here what cannot be seen
   */
  quote(label: string, text: string): string {
    if (text.length > SHOWN) {
      this.#shown += text.length;
      if (this.#shown > MOST_SHOWN)
        throw new AppError(
          "CONFLICT",
          `With ${text.length.toLocaleString("en")} characters ${label} is longer than what can be shown for an approval (${MOST_SHOWN.toLocaleString("en")}). The person has to do this in the web app.`,
        );
      this.details.push({ label, text });
    }
    return quote(text, SHOWN);
  }
}

const orNone = (text: string | null | undefined, most: number) => (text === null || text === undefined ? undefined : cut(text, most));

/**
 * Compact JSON of at most so many characters.
 * @param value tried in turn, each shorter than the one before; the last is cut if it must be
 */
export function fitting(most: number, ...values: (() => unknown)[]): string {
  let text = "";
  for (const value of values) {
    text = JSON.stringify(value());
    if (text.length <= most) return text;
  }
  return cut(text, most);
}

/** A node's fields, without those that say what would be so anyway. */
function fieldsOf({ type, data }: GraphNode, most: number): Record<string, unknown> {
  const preset: Record<string, unknown> = definitionOf(type)?.config.safeParse({}).data ?? {};
  const said = Object.entries(data).filter(
    ([key, value]) => key !== "label" && key !== "collapsed" && value !== null && comparableJson(value) !== comparableJson(preset[key]),
  );
  const shown = (value: unknown) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return text.length > most ? cut(text, most) : value;
  };
  return Object.fromEntries(said.map(([key, value]) => [key, shown(value)]));
}

const connectionsOf = ({ edges }: Graph) =>
  edges.map(({ source, sourceHandle, target }) => `${source}${sourceHandle ? `.${sourceHandle}` : ""} -> ${target}`);

/** A graph with texts cut at `most` characters; connections are `source.handle -> target`. */
const graphUpTo = (graph: Graph, most: number) => {
  const plan = makePlan(graph);
  return {
    nodes: graph.nodes.map((node) => {
      const loop = plan.ownerOf(node.id);
      return { id: node.id, type: node.type, label: labelOf(node), ...(loop !== null && { in_loop: loop }), data: fieldsOf(node, most) };
    }),
    connections: connectionsOf(graph),
  };
};

/** A graph without the fields of its nodes. */
const outlineOf = (graph: Graph) => ({
  nodes: graph.nodes.map((node) => `${node.id}: ${node.type} “${labelOf(node)}”`),
  connections: connectionsOf(graph),
  note: "The graph is large: fields are left out here. Ask get_workflow with node_ids for those of some nodes.",
});
/** So much longer may the outline of a large graph be. */
const OUTLINE = 4;

/** A graph as the model reads it, with what belongs beside it. */
export function shownGraph(graph: Graph, beside: object, most = MAX_RESULT): string {
  for (const each of [3000, 800, 200, 40]) {
    const text = JSON.stringify({ ...beside, ...graphUpTo(graph, each) });
    if (text.length <= most) return text;
  }
  return fitting(OUTLINE * most, () => ({ ...beside, ...outlineOf(graph) }));
}

/** Some nodes of a graph in full, with what they are connected to. */
export function shownNodes(graph: Graph, node_ids: readonly string[], beside: object, most: number): string {
  const nodes = graph.nodes.filter(({ id }) => node_ids.includes(id));
  const edges = graph.edges.filter(({ source, target }) => node_ids.includes(source) || node_ids.includes(target));
  return fitting(most, ...[most, 3000, 800, 200].map((each) => () => ({ ...beside, ...graphUpTo({ nodes, edges }, each) })));
}

const runUpTo = (execution: Execution, graph: Graph, most: number, isShort = false) => {
  const { id, workflow_id, workflow_name, version, status, trigger, rerun_of, error, cost, duration_ms, node_results } = execution;
  const nodes = graph.nodes.flatMap((node) => {
    const result = node_results[node.id];
    if (!result || result.status === "idle") return [];
    const { status, output, error, duration_ms, reused, pinned, iterations } = result;
    const told = {
      error: orNone(error, 2 * most),
      output: orNone(output, most),
      duration_ms,
      reused: reused || undefined,
      pinned,
      iterations,
    };
    return [{ node_id: node.id, label: labelOf(node), status, ...told }];
  });
  const isFailed = (node: (typeof nodes)[number]) => node.status === "failed";
  return {
    ...{ execution_id: id, status, workflow_id, workflow_name, version: version ?? "draft", trigger, rerun_of: rerun_of ?? undefined },
    ...{ error: orNone(error, 2 * most), input: cut(execution.input, most), output: orNone(execution.output, 2 * most) },
    ...{ duration_ms, cost_usd: cost ?? undefined, cost_is_partial: execution.cost_is_partial || undefined },
    waiting_reviews: execution.reviews.flatMap(({ decision, node_id, label }) => (decision === null ? [{ node_id, label }] : [])),
    nodes: [...nodes.filter(isFailed), ...nodes.filter((node) => !isFailed(node))].slice(0, isShort ? MOST_NODES : undefined),
    ...(isShort && { nodes_in_all: nodes.length }),
  };
};

/** A run as the model reads it: what failed comes first. */
export const shownRun = (execution: Execution, graph: Graph, beside: object = {}, most = MAX_RESULT): string =>
  fitting(most, ...[1500, 400, 100].map((each) => () => ({ ...beside, ...runUpTo(execution, graph, each) })), () => ({
    ...beside,
    ...runUpTo(execution, graph, 40, true),
  }));

const logUpTo = (items: readonly NodeLog[], most: number) =>
  items.map(({ node_id, label, node_type, iteration, attempt, status, input, output, error, model, cost, duration_ms, tool_calls }) => ({
    ...{ node_id, label, type: node_type, iteration: iteration ?? undefined, attempt, status, error: orNone(error, 2 * most) },
    ...{ input: orNone(input, most), output: orNone(output, most), model: model ?? undefined, cost_usd: cost || undefined, duration_ms },
    tool_calls: tool_calls.length
      ? tool_calls.slice(0, 20).map(({ name, args, result, success }) => ({
          name,
          args: cut(JSON.stringify(args), most),
          result: orNone(result, most),
          success,
        }))
      : undefined,
  }));

/** Items of a log that are shown. */
const MOST_ITEMS = 100;

/** A log as the model reads it: what failed comes first. */
export function shownLog(items: readonly NodeLog[], beside: object, most = MAX_RESULT): string {
  const failed = items.filter(({ status }) => status === "failed");
  const sorted = [...failed, ...items.filter(({ status }) => status !== "failed")].slice(0, MOST_ITEMS);
  const more = items.length > MOST_ITEMS ? { items_in_all: items.length } : {};
  return fitting(most, ...[most, 3000, 800, 200, 40].map((each) => () => ({ ...beside, ...more, items: logUpTo(sorted, each) })));
}

const shownWidget = ({ widget_id: _, series, rows, text, ...rest }: WidgetData, most: number) => ({
  ...rest,
  // Of a series the latest is asked for, of a table the first rows.
  series: series?.map(({ name, points }) => ({ name, points: points.slice(-most), points_in_all: points.length })),
  ...(rows && { rows: rows.slice(0, most), rows_in_all: rows.length }),
  text: orNone(text, 60 * most),
});

/** A dashboard as the model reads it: what each widget is made from, and what it shows. */
export function shownCanvas({ id, name, widgets }: Canvas, data: CanvasData, most: number): string {
  const shows = new Map(data.widgets.map((one) => [one.widget_id, one]));
  const upTo = (each: number) => () => ({
    ...{ canvas_id: id, name, range: data.range ?? undefined, read_at: data.generated_at },
    widgets: widgets.map(({ layout: _, id: widget_id, ...widget }) => {
      const shown = shows.get(widget_id);
      return { widget_id, ...widget, shows: shown && shownWidget(shown, each) };
    }),
  });
  return fitting(most, ...[1000, 200, 50, 12, 3].map(upTo));
}
