import { LONG, unmasked } from "#server/platform/masking/masker.ts";
import { finished, inTimeSlices } from "#server/platform/time-slice.ts";
import type { Frame } from "#server/runs/executor/frame.ts";
import { RunNames, upstreamOutput } from "#server/runs/executor/run-scope.ts";
import type { RunSecrets } from "#server/runs/executor/run-secrets.ts";
import type { EngineServices, LedgerWrite, RunState } from "#server/runs/ports.ts";
import { type CallAttempt, withCallAttempt } from "#server/shared/call-attempts.ts";
import { isJson } from "#server/shared/json-steps.ts";
import type { CompiledGraph } from "#server/workflow/compiled-graph.ts";
import { workOf } from "#server/workflow/disabled.ts";
import { credentialOf, parseTemplate, type Reference, type TemplatePart } from "#server/workflow/expressions.ts";
import { textsOf, withTexts } from "#server/workflow/node-texts.ts";
import type { NodeContext, NodeDefinition, NodeScope } from "#server/workflow/nodes/definition.ts";
import { newWork, resolveJson, resolveText, resolveValue } from "#server/workflow/resolve-expressions.ts";
import { isQuick, rewriteJson } from "#server/workflow/rewrite-json.ts";
import type { GraphNode } from "#server/workflow/schema.ts";

/** One try at one node in one frame. */
export interface Attempt {
  frame: Frame;
  node: GraphNode;
  definition: NodeDefinition;
  row: LedgerWrite;
  context: NodeContext<Record<string, unknown>>;
}

/** A node as the engine needs it again and again: its config read and its templates taken apart. */
interface CompiledNode {
  node: GraphNode;
  definition: NodeDefinition;
  config: Record<string, unknown>;
  /** By their place in the config. */
  templates: ReadonlyMap<string, { text: string; parts: TemplatePart[] }>;
  /** Those of all templates. */
  references: readonly Reference[];
}

/** What a context needs of the segment. */
export interface AttemptHost {
  signal(frame: Frame): AbortSignal;
  onDelta(row: LedgerWrite, content: string): void;
  onRestart(row: LedgerWrite): void;
}

interface AttemptParts {
  services: EngineServices;
  run: RunState;
  names: NodeScope;
  secrets: RunSecrets;
}

/** Makes attempts: resolves a node's config against what has happened, and hands it what it may use. */
export class Attempts {
  readonly #services: EngineServices;
  readonly #run: RunState;
  readonly #names: RunNames;
  readonly #secrets: RunSecrets;
  readonly #graph: CompiledGraph;
  readonly #host: AttemptHost;
  readonly #nodes = new Map<string, CompiledNode>();

  constructor({ services, run, names, secrets }: AttemptParts, graph: CompiledGraph, host: AttemptHost) {
    this.#services = services;
    this.#run = run;
    this.#secrets = secrets;
    this.#names = new RunNames(run, names, secrets, (wait_id) => services.callback(wait_id).url);
    this.#graph = graph;
    this.#host = host;
  }

  /**
   * The config of a node that gives secrets to others holds them in clear. All that any other node knows is kept, so its config
   * has them masked before it cuts or joins anything.
   * @param row the attempt's row; its input is set here
   * @throws ExpressionError or ZodError when the config cannot be resolved: the node fails without having started
   */
  async prepare(frame: Frame, id: string, row: LedgerWrite): Promise<Attempt> {
    const { node, definition, config: raw, templates, references } = this.#compile(id);
    const run = this.#run;
    const host = this.#host;
    const ahead = references.length
      ? this.#names.readAhead(frame, references, (reads) => this.#services.readLong(reads, host.signal(frame), run.project_id))
      : undefined;
    const scope = this.#names.in(frame, ahead && (await ahead));
    const { masker } = this.#secrets;
    const kept = (text: string) => (definition.readsSecrets ? text : masker.text(text));
    const partsOf = (path: string) => templates.get(path)?.parts ?? [];
    // For all fields together: each may be long, and there may be a hundred.
    const [work, further] = [newWork(), newWork()];
    const resolved = [...templates].map(([path, { parts }]) => [path, resolveText(parts, scope, work)] as const);
    const long = definition.readsSecrets || masker === unmasked ? [] : resolved.filter(([, text]) => text.length >= LONG);
    if (long.length) await masker.inSlices(long.map(([, text]) => text));
    const texts = new Map(resolved);
    const config = templates.size ? withTexts(definition, raw, "template", (_, path) => kept(texts.get(path) ?? "")) : raw;
    const own = definition.input ?? [...templates.keys()][0];
    const isWritten = (field: string) => (templates.get(field)?.text ?? "").trim() !== "";
    const said = own === undefined || typeof config[own] !== "string" ? "" : config[own].trim();
    // An agent is never asked nothing; what any other node is told to say may well be nothing.
    const isSaid = said !== "" || (own !== undefined && !definition.isEffect && isWritten(own));
    // Who says what it works with needs nothing of what came before, however much that is.
    const takes = definition.takesUpstream?.(config) ?? !isSaid;
    const upstream = takes ? upstreamOutput(frame, id, this.#graph) : "";
    row.input = definition.shownInput
      ? definition.shownInput(config)
      : isSaid
        ? said
        : upstream || (definition.group === "trigger" ? this.#run.input : "");
    const trigger = { output: run.input, params: run.params };
    // At once, so that a call that fails, or is ended, leaves its node with the tries until then.
    const onAttempt = (made: CallAttempt) => {
      const attempts = withCallAttempt(row.details?.attempts ?? [], made, (text) => masker.text(text));
      row.details = { ...row.details, attempts };
    };
    const context: NodeContext<Record<string, unknown>> = {
      config,
      upstream,
      trigger,
      onDelta: (content) => host.onDelta(row, content),
      callAgent: (call) =>
        this.#services.callAgent({
          ...call,
          project_id: run.project_id,
          run: { execution_id: run.id, message_id: run.message_id, node_id: id, iteration: frame.path, attempt: row.attempt },
          mask: masker === unmasked ? undefined : (text) => masker.text(text),
          signal: host.signal(frame),
          // At once, as what it uses: of a call that fails one wants to know, too, who was asked.
          onVersion: (agent_version) => {
            row.details = { ...row.details, agent_version };
          },
          onDelta: (content) => host.onDelta(row, content),
          onRestart: () => host.onRestart(row),
          onAttempt,
          // At once: a call that fails, or is cut off, leaves its node with what it had used until then.
          onUsed: (usage) => Object.assign(row, usage),
        }),
      runCode: async (call) => {
        const { printed, ...result } = await this.#services.runCode(call, host.signal(frame), run.project_id);
        // At once: what it printed is worth most when it has failed.
        if (printed !== "") row.details = { ...row.details, printed };
        if ("failure" in result) throw new Error(result.failure);
        return result.output;
      },
      callHttp: async (call) => {
        const { status, headers, text } = await this.#services.callHttp(call, host.signal(frame), onAttempt);
        row.details = { ...row.details, status, headers };
        // As it will be kept: nothing that is cut out of it holds half a secret.
        return { status, headers: masker.deep(headers), text: await masker.inSlices(text) };
      },
      visit: `${run.id}:${id}:${frame.path}`,
      secret: (name) => {
        const value = this.#secrets.values[name];
        if (value === undefined) throw new Error(this.#secrets.fault ?? `The project has no credential "${name}".`);
        return value;
      },
      readsSecret: (field) => partsOf(field).some((part) => "reference" in part && credentialOf(part.reference) !== undefined),
      now: () => this.#services.clock.now(),
      callbackToken: () => this.#services.callback(row.id).token,
      isWritten,
      typedValue: async (field) => masker.inSlices(resolveValue(templates.get(field)?.text ?? "", scope, further)),
      jsonText: async (field) => {
        const text = resolveJson(partsOf(field), scope, further);
        return definition.readsSecrets ? text : masker.inSlices(text);
      },
      rewriteJson: (rewrite) =>
        isQuick(rewrite) ? rewriteJson(rewrite) : this.#services.rewriteJson(rewrite, host.signal(frame), run.project_id),
      isJson: (text) => (text.length < LONG ? finished(isJson(text)) : inTimeSlices(isJson(text))),
      evaluate: (condition) => {
        const node_outputs = condition.includes("node_outputs") ? this.#names.outputs(frame) : {};
        const output = upstreamOutput(frame, id, this.#graph, true);
        // Of a node with nothing but a condition, the log shows what the condition was about.
        if (own === undefined) row.input = output;
        const variables = { output, trigger_output: run.input, node_outputs };
        return this.#services.evaluate(condition, variables, () => host.signal(frame), run.project_id);
      },
    };
    return { frame, node, definition, row, context };
  }

  #compile(id: string): CompiledNode {
    const known = this.#nodes.get(id);
    if (known) return known;
    const node = this.#graph.byId.get(id);
    const definition = workOf(node);
    if (!node || !definition) throw new Error(`The plan names "${id}", which is not in the graph.`);
    const config = definition.config.parse(node.data);
    const texts = textsOf(definition, config, "template");
    const templates = new Map(texts.map(({ path, text }) => [path, { text, parts: parseTemplate(text, this.#names.isName) }]));
    const references = [...templates.values()].flatMap(({ parts }) => parts.flatMap((part) => ("reference" in part ? part.reference : [])));
    const compiled = { node, definition, config, templates, references };
    this.#nodes.set(id, compiled);
    return compiled;
  }
}
