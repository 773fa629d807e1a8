import { agentKind, agentOf, asksModel, isModel } from "#server/features/workflow-files/n8n/agents.ts";
import { placed, separateBranches, waysBack, withoutFaults } from "#server/features/workflow-files/n8n/graph.ts";
import { isIdle, isSticky, kindOf, replacement } from "#server/features/workflow-files/n8n/kinds.ts";
import { batches, batchesOf, slicesFor, splitOut } from "#server/features/workflow-files/n8n/lists.ts";
import {
  at,
  type Json,
  type Link,
  numberIn,
  pruned,
  readSource,
  type Source,
  type SourceNode,
  wordOf,
} from "#server/features/workflow-files/n8n/source.ts";
import type { Kind } from "#server/features/workflow-files/n8n/step.ts";
import { type Role, Steps, waysOf } from "#server/features/workflow-files/n8n/steps.ts";
import { type TriggerKind, triggerKindOf } from "#server/features/workflow-files/n8n/triggers.ts";
import {
  type FileAgent,
  type ImportReport,
  WORKFLOW_FILE_VERSION,
  WORKFLOW_FORMAT,
  type WorkflowFile,
} from "#server/features/workflow-files/schema.ts";
import { FileMask } from "#server/features/workflow-files/secrets.ts";
import { maskerOf } from "#server/platform/masking/masker.ts";
import { CronError, checkCron } from "#server/workflow/cron.ts";
import { CREDENTIALS, slugOf } from "#server/workflow/expressions.ts";
import { definitionOf } from "#server/workflow/graph.ts";
import { NOTE_SIZE } from "#server/workflow/layout/node-size.ts";
import { isTimezone } from "#server/workflow/nodes/trigger-node.ts";
import type { GraphEdge, GraphNode } from "#server/workflow/schema.ts";
import { MOST_TO_DOS, type ToDo } from "#server/workflow/to-dos.ts";

// A workflow of n8n as one of ours. Pure: what it makes is a file like any other, with what is left to do kept at its nodes.

const MOST_EDGES = 5000;
const MOST_LABEL = 100;
const MOST_NOTE = 20_000;

const lostText = (count: number): string =>
  count === 1
    ? "One connection of the file names a node that is not in it. Connect the nodes anew."
    : `${count.toLocaleString("en")} connections of the file name nodes that are not in it. Connect the nodes anew.`;

class Conversion {
  readonly #source: Source;
  readonly #roles = new Map<string, Role>();
  readonly #labels = new Map<string, string>();
  readonly #ids = new Map<string, string>();
  readonly #toDos = new Map<string, ToDo[]>();
  readonly #agents: FileAgent[] = [];
  /** Loop Over Items behind each Split Out that leads to it alone, and the reverse. */
  readonly #loops = new Map<string, SourceNode>();
  readonly #splits = new Map<string, SourceNode>();
  readonly #trigger: string | undefined;
  readonly #incoming: ReadonlyMap<string, readonly Link[]>;
  readonly #outgoing: ReadonlyMap<string, readonly Link[]>;
  readonly #steps: Steps;

  constructor(source: Source) {
    this.#source = source;
    this.#trigger = this.#chooseTrigger();
    this.#pairSplits();
    for (const node of source.nodes) this.#roles.set(node.name, this.#roleOf(node));
    this.#name();
    const forward = this.#forward();
    this.#incoming = Map.groupBy(forward, ({ to }) => to);
    this.#outgoing = Map.groupBy(forward, ({ from }) => from);
    this.#steps = new Steps({
      source,
      roles: this.#roles,
      label: this.#label,
      incoming: this.#incoming,
      toDo: (name, message, field) => this.#toDo(name, message, field),
    });
  }

  convert(): { file: WorkflowFile; report: ImportReport } {
    const edges = this.#edges();
    const nodes = placed(this.#made(edges), edges);
    const kept = withoutFaults(nodes, edges);
    const name = this.#source.name.trim().slice(0, 120).toWellFormed();
    const file: WorkflowFile = {
      format: WORKFLOW_FORMAT,
      version: WORKFLOW_FILE_VERSION,
      name: name || "Imported from n8n",
      description: "",
      ...kept,
      requires: { agents: this.#agents, mcp_servers: [], rag_sources: [], skills: [], credentials: [] },
    };
    return { file, report: this.#report(kept.nodes) };
  }

  // Roles and names.

  #chooseTrigger(): string | undefined {
    const leads = new Set(this.#source.links.map(({ from }) => from));
    const found = this.#source.nodes.flatMap((node) => {
      const kind = node.isDisabled ? undefined : triggerKindOf(node);
      return kind ? [{ name: node.name, rank: kind.rank + (leads.has(node.name) ? 100 : 0) }] : [];
    });
    return found.sort((a, b) => b.rank - a.rank)[0]?.name;
  }

  /** Finds each Split Out whose list one Loop Over Items takes, and nothing else. */
  #pairSplits(): void {
    const { nodes, links } = this.#source;
    const byName = new Map(nodes.map((node) => [node.name, node]));
    const next = Map.groupBy(links, ({ from }) => from);
    const into = Map.groupBy(links, ({ to }) => to);
    for (const split of nodes) {
      const [link, ...others] = next.get(split.name) ?? [];
      const loop = link && others.length === 0 ? byName.get(link.to) : undefined;
      if (!loop || kindOf(split) !== splitOut || kindOf(loop) !== batches || split.isDisabled || loop.isDisabled) continue;
      const body = new Set([loop.name]);
      for (const name of body) for (const { to } of next.get(name) ?? []) body.add(to);
      const isAlone = (into.get(loop.name) ?? []).every(({ from }) => from === split.name || body.has(from));
      if (!isAlone || body.has(split.name)) continue;
      this.#loops.set(split.name, loop);
      this.#splits.set(loop.name, split);
    }
  }

  #roleOf(node: SourceNode): Role {
    const trigger = triggerKindOf(node);
    if (trigger) return node.name === this.#trigger ? { is: "trigger", kind: trigger } : { is: "note" };
    if (isIdle(node) || isModel(node)) return { is: "gone" };
    if (isSticky(node)) return { is: "sticky" };
    const loop = this.#loops.get(node.name);
    const split = this.#splits.get(node.name);
    if (loop) {
      const slices = slicesFor(loop);
      return slices ? { is: "node", kind: slices } : { is: "split", loop: loop.name };
    }
    if (split) return { is: "node", kind: batchesOf(split) };
    const kind = asksModel(node) ? agentKind : kindOf(node);
    return kind ? { is: "node", kind } : { is: "note" };
  }

  /** Labels that are unique here and that braces can hold; ids that are safe whatever the file had. */
  #name(): void {
    const taken = new Set(["trigger", "execution", CREDENTIALS]);
    for (const [index, { name }] of this.#source.nodes.entries()) {
      const wanted =
        name
          .replace(/[{}\p{Cc}]+/gu, " ")
          .trim()
          .slice(0, MOST_LABEL)
          .toWellFormed() || "Node";
      let label = wanted;
      for (let number = 2; taken.has(slugOf(label)); number++) label = `${wanted} ${number}`;
      taken.add(slugOf(label));
      this.#labels.set(name, label);
      this.#ids.set(name, `n${index + 1}`);
    }
  }

  #label = (name: string): string => this.#labels.get(name) ?? name;

  #toDo(name: string, message: string, field: string | null = null): void {
    const list = this.#toDos.get(name) ?? [];
    if (list.length >= MOST_TO_DOS || list.some((one) => one.message === message)) return;
    this.#toDos.set(name, [...list, { field, message: message.slice(0, 1000).toWellFormed() }]);
  }

  // Connections.

  /** The connections without those that lead back: of a loop they are how n8n draws it, any other has no place here. */
  #forward(): Link[] {
    const { links, nodes } = this.#source;
    const back = waysBack(
      links,
      nodes.map(({ name }) => name),
      this.#trigger,
    );
    for (const { from, to } of back) {
      const role = this.#roles.get(to);
      if (role?.is === "node" && role.kind.type === "loopNode") continue;
      this.#toDo(
        from,
        `n8n led back to “${this.#label(to)}” from here. Workflows here run one way: use a Loop, the retries of a node, or run the workflow again.`,
      );
    }
    return links.filter((link) => !back.has(link));
  }

  /** Where a connection leads here: past what has no node of its own. */
  #ends(name: string, seen = new Set<string>()): string[] {
    const found: string[] = [];
    const open = [name];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      const role = this.#roles.get(at);
      if (role?.is === "node") found.push(at);
      else if (role?.is === "note" || role?.is === "gone" || role?.is === "split")
        open.push(...(this.#outgoing.get(at) ?? []).map(({ to }) => to).reverse());
    }
    return found;
  }

  #edges(): GraphEdge[] {
    const edges = new Map<string, GraphEdge>();
    const add = (source: string, way: string, name: string) => {
      const key = `${source} ${way} ${name}`;
      const ends = { source: this.#idOf(source), target: this.#idOf(name) };
      if (!edges.has(key) && source !== name && edges.size < MOST_EDGES)
        edges.set(key, { id: `e${edges.size + 1}`, ...ends, ...(way && { sourceHandle: way }) });
    };
    // What nothing leads to begins the workflow where the file has no trigger.
    if (this.#trigger === undefined)
      for (const node of this.#source.nodes) {
        const isFirst = !this.#incoming.has(node.name) && this.#roles.get(node.name)?.is !== "sticky";
        if (isFirst) for (const end of this.#ends(node.name)) add("", "", end);
      }
    for (const node of this.#source.nodes) {
      const role = this.#roles.get(node.name);
      if (role?.is !== "node" && role?.is !== "trigger") continue;
      for (const { output, to } of this.#outgoing.get(node.name) ?? []) {
        const ways = waysOf(node, role, output);
        const ends = this.#ends(to);
        for (const end of ends) for (const way of ways) add(node.name, way, end);
        if (ways.length === 0 && ends[0] !== undefined)
          this.#toDo(
            node.name,
            `n8n led on to “${this.#label(ends[0])}” by a way that this node does not have${node.onError === "error way" ? ", when it failed. Here it goes on with the error as its output: put a Branch behind it" : ""}.`,
          );
      }
    }
    return [...edges.values()];
  }

  #idOf = (name: string): string => this.#ids.get(name) ?? "trigger";

  // Nodes.

  #made(edges: readonly GraphEdge[]): GraphNode[] {
    const nodes = this.#source.nodes.flatMap((source) => {
      const role = this.#roles.get(source.name);
      if (role?.is === "trigger") return [this.#triggerNode(source, role.kind)];
      if (role?.is === "node") return [this.#node(source, role.kind)];
      if (role?.is === "sticky") return [this.#sticky(source)];
      return role?.is === "note" ? [this.#note(source)] : [];
    });
    const all = this.#trigger === undefined ? [this.#firstTrigger(), ...nodes] : nodes;
    separateBranches(all, edges);
    return all.map((node) => this.#told(node));
  }

  #base(source: SourceNode, type: string, data: Json): GraphNode {
    const position = { x: Math.round(source.x * 1.5), y: Math.round(source.y * 1.25) };
    const disabled = source.isDisabled && type !== "triggerNode" && type !== "noteNode";
    return {
      id: this.#idOf(source.name),
      type,
      position,
      data: { label: this.#label(source.name), ...data, ...(disabled && { disabled }) },
    };
  }

  #triggerNode(source: SourceNode, kind: TriggerKind): GraphNode {
    const { timezone, errorWorkflow, nodes, lost } = this.#source;
    const data = kind.data(this.#steps.of(source), isTimezone(timezone) ? timezone : "");
    if (nodes.length > 2)
      this.#toDo(
        source.name,
        "n8n ran each node once for every item. Here a node runs once, with the whole value: where a list comes, put a Loop around what is to happen for each.",
      );
    if (lost > 0) this.#toDo(source.name, lostText(lost));
    if (errorWorkflow)
      this.#toDo(source.name, "n8n had an error workflow here. Import that one too, and choose it in this workflow’s settings.");
    if (data.kind !== "schedule") return this.#base(source, "triggerNode", data);
    try {
      if (data.cron_expression !== "")
        checkCron({ cron_expression: String(data.cron_expression), timezone: wordOf(data.timezone, "UTC") }, new Date());
      return this.#base(source, "triggerNode", data);
    } catch (error) {
      if (!(error instanceof CronError)) throw error;
      this.#toDo(source.name, `n8n ran it at “${String(data.cron_expression).slice(0, 100)}”. ${error.message}`, "cron_expression");
      return this.#base(source, "triggerNode", { ...data, cron_expression: "" });
    }
  }

  #firstTrigger(): GraphNode {
    const [left, top] = [Math.min(...this.#source.nodes.map(({ x }) => x)), Math.min(...this.#source.nodes.map(({ y }) => y))];
    const { lost } = this.#source;
    const toDo = [
      { field: "kind", message: "There was no trigger in the file. Choose what starts the workflow." },
      ...(lost > 0 ? [{ field: null, message: lostText(lost) }] : []),
    ];
    const position = { x: Math.round(left * 1.5) - 330, y: Math.round(top * 1.25) };
    return { id: "trigger", type: "triggerNode", position, data: { label: "Start", kind: "manual", to_do: toDo } };
  }

  #node(source: SourceNode, kind: Kind): GraphNode {
    const data = kind === agentKind ? this.#agent(source) : kind.data(this.#steps.of(source));
    const shape = definitionOf(kind.type)?.config.shape ?? {};
    const goesOn = source.onError !== "stop" && Object.hasOwn(shape, "on_error");
    return this.#base(source, kind.type, this.#fitting(source, kind, { ...data, ...(goesOn && { on_error: "continue" }) }));
  }

  /** Data without the fields that a node here refuses, too long ones for instance: one of them must not keep the workflow out. */
  #fitting(source: SourceNode, { type }: Kind, data: Json): Json {
    const result = definitionOf(type)?.config.safeParse(data);
    if (!result || result.success) return data;
    const wrong = new Set(result.error.issues.map(({ path }) => String(path[0])));
    for (const field of wrong) this.#toDo(source.name, `What n8n had as “${field}” does not fit here. Fill it in anew.`, field);
    return Object.fromEntries(Object.entries(data).filter(([field]) => !wrong.has(field)));
  }

  #agent(source: SourceNode): Json {
    const { definition, data } = agentOf(this.#steps.of(source), `agent-${this.#agents.length + 1}`, this.#source.name);
    if (this.#agents.length < 200) this.#agents.push(definition);
    return data;
  }

  #sticky(source: SourceNode): GraphNode {
    const { parameters: p } = source;
    const size = (value: unknown, usual: number, least: number, most: number) =>
      Math.round(Math.min(most, Math.max(least, (numberIn(value) || usual) * 1.25)));
    const content = wordOf(at(p, "content")).slice(0, MOST_NOTE).toWellFormed();
    return {
      ...this.#base(source, "noteNode", { content }),
      width: size(at(p, "width"), 240, NOTE_SIZE.minWidth, 600),
      height: size(at(p, "height"), 160, NOTE_SIZE.minHeight, 400),
    };
  }

  /** What is not known here, as a remark with what it was. */
  #note(source: SourceNode): GraphNode {
    const { name, type, version, parameters, credentials } = source;
    const label = this.#label(name);
    const shortType = type.split(".").at(-1)?.slice(0, 60) ?? "";
    if (triggerKindOf(source))
      this.#toDo(
        name,
        "n8n could start it by this trigger too. A workflow here has one: copy what follows into a workflow of its own, or delete this note.",
      );
    else if (!source.isDisabled && !this.#source.parts.some(({ from }) => from === name))
      this.#toDo(
        name,
        `There is no “${shortType}” here. What came before it goes on to what followed. ${replacement(source)}, then delete this note.`,
      );
    // Its credentials by name only, as n8n keeps them: what they hold is not in the file.
    const original = pruned({
      name,
      type,
      typeVersion: version,
      parameters,
      ...(credentials.length && { credentials: credentials.map((one) => one.name) }),
    });
    const json = JSON.stringify(original, null, 2).replaceAll("```", "` ` `").slice(0, MOST_NOTE).toWellFormed();
    return {
      ...this.#base(source, "noteNode", {
        label,
        color: "grey",
        content: `**${label.replaceAll("*", "")}**, a node of n8n that is not here.\n\n\`\`\`json\n${json}\n\`\`\``,
      }),
      width: 250,
      height: 120,
    };
  }

  #told(node: GraphNode): GraphNode {
    const name = this.#source.nodes.find(({ name }) => this.#idOf(name) === node.id)?.name;
    const toDos = name === undefined ? [] : (this.#toDos.get(name) ?? []);
    return toDos.length ? { ...node, data: { ...node.data, to_do: toDos } } : node;
  }

  #report(nodes: readonly GraphNode[]): ImportReport {
    const types = new Map(nodes.map(({ id, type }) => [id, type]));
    return {
      format: "n8n",
      nodes: this.#source.nodes.map(({ name, type }) => {
        const became = types.get(this.#idOf(name)) ?? null;
        return { name: name.slice(0, 200), type: type.slice(0, 200), node_id: became === null ? null : this.#idOf(name), became };
      }),
      to_do: nodes.flatMap(({ id, data }) => {
        const list = Array.isArray(data.to_do) ? (data.to_do as ToDo[]) : [];
        return list.map(({ field, message }) => ({ node_id: id, field, message }));
      }),
    };
  }
}

/**
 * A workflow of n8n as a file of ours, and what became of each of its nodes.
 * @throws AppError VALIDATION_ERROR for one without nodes, or with more than an import takes
 */
export function convertN8n(raw: Json): { file: WorkflowFile; report: ImportReport } {
  const mask = new FileMask(maskerOf([]));
  const { file, report } = new Conversion(readSource(raw, mask)).convert();
  return { file: mask.found.length > 0 ? { ...file, masked: mask.found } : file, report };
}
