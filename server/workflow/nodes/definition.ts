import { z } from "zod";
import type { CallAttempt } from "#server/shared/call-attempts.ts";
import type { ReviewTerms } from "#server/workflow/nodes/review-terms.ts";
import type { JsonRewrite, RewrittenJson } from "#server/workflow/rewrite-json.ts";

/** Where the palette shows a node. */
export type NodeGroup = "trigger" | "agent" | "logic" | "data" | "human" | "output" | "note";

/** What a node left behind: text, or the reason why it failed. */
export interface NodeResult {
  output: string;
  /** The handle that is live, of a node with several; left out, all are. */
  handle?: string;
  /** True when an agent's answer ended at the limit of its length and may be cut. */
  is_cut_off?: boolean;
  model?: string;
  input_tokens?: number;
  /** Of the input tokens: those that the service read from its cache. */
  cached_tokens?: number;
  output_tokens?: number;
  /** Of a call of a model: which agent made it, where, and what it cost in US dollars; null when the price is not known. */
  agent_id?: string;
  llm_key_id?: string;
  provider?: string;
  cost?: number | null;
  tool_calls?: {
    name: string;
    args: Record<string, unknown>;
    result?: string | undefined;
    success?: boolean | undefined;
    sources?: readonly object[] | undefined;
  }[];
  details?: NodeDetails;
}

/** What some nodes leave behind besides their output. */
export interface NodeDetails {
  /** What its code printed. */
  printed?: string;
  /** Of the answer to its HTTP call; the names of headers in small letters. */
  status?: number;
  headers?: Record<string, string | string[]>;
  /** The run that it has started. */
  child_execution_id?: string;
  /** The version of its agent that was asked. */
  agent_version?: number;
  /** Of a review: the text that flows on. */
  text?: string;
  /** Tries of calls that were made more than once. */
  attempts?: CallAttempt[];
}

/** An HTTP call that a node makes. */
export interface HttpCall {
  method: string;
  url: string;
  /** Those that are secret are not sent to another origin, nor is a body that is. */
  headers: { name: string; value: string; isSecret: boolean }[];
  body: { text: string; isSecret: boolean } | undefined;
  /** Seconds, for each try. */
  timeout: number;
  /** Further tries after a broken connection, 408, 429 and 5xx. */
  retries: number;
  follow_redirects: boolean;
}

/** What a server answered. */
export interface HttpAnswer {
  status: number;
  /** By name in small letters; a list where Set-Cookie came several times. */
  headers: Record<string, string | string[]>;
  text: string;
}

/** What a node left behind, as its fields are read from it. */
export interface LeftBehind {
  output: string;
  /** The handle that was left on. */
  handle: string | null;
  details: NodeDetails;
  /** Its config as it was written. */
  data: Readonly<Record<string, unknown>>;
  /** The address of its callback; empty where nobody may know it. */
  callbackUrl(): string;
}

/** Python that a node runs, with texts by name. */
export interface CodeCall {
  code: string;
  inputs: Readonly<Record<string, string>>;
  /** Seconds. */
  timeout: number;
}

/** What a reviewer is asked. */
export interface ReviewRequest {
  title: string;
  description: string;
  display_value: string;
  /** Told by e-mail when the run pauses. */
  notification_email: string | null;
  /** The text that flows on, as it is proposed; null where the review has none. */
  text: string | null;
  terms: ReviewTerms;
  /** When those who have not decided are told again. */
  remind_at: Date | null;
}

/**
 * What a node waits for: people, a time, whoever holds the token of a callback, another run, or a budget with room. With a deadline of
 * null it waits for ever.
 */
export type WaitRequest =
  | ({ reason: "review"; deadline: Date | null } & ReviewRequest)
  | { reason: "time"; deadline: Date }
  | { reason: "callback"; deadline: Date | null; token: string }
  | { reason: "child"; deadline: Date | null; request: ChildRequest }
  | ({ reason: "budget"; deadline: Date; request: BudgetRequest } & ReviewRequest);

/** A call of an agent that a budget has stopped, and how far it had come. For whoever calls it again, not for the engine. */
export interface BudgetRequest {
  agent_id: string;
  llm_key_id: string;
  /** What model and tools have said since it was asked. */
  said: readonly object[];
}

/** Another workflow that is to be run. */
export interface ChildRequest {
  workflow_id: string;
  version: "current" | number;
  input: string;
  /** Whether the input was written for it, and did not only come along. */
  is_own: boolean;
  params: Readonly<Record<string, string>>;
}

/** How a wait ended: with what came, or because its deadline passed first. */
export type WaitEnd = ({ status: "resolved"; outcome: unknown } | { status: "expired" }) & {
  /** Of a review: its text, as it was proposed or somebody has changed it. */
  text?: string | null;
};

/** The items that a loop's body runs for. */
export interface LoopRequest {
  items: unknown[];
}

/** How a loop goes through its items. */
export interface LoopSettings {
  /** How many run at a time. */
  concurrency: number;
  /** Whether a failed item leaves `{"error": …}` in its place instead of failing the loop. */
  continues: boolean;
}

/** The end of the whole run. */
export interface RunEnd {
  status: "completed" | "failed";
  message: string;
}

/** What a node's work came to: a result, or something that only the run loop can do. */
export type NodeOutcome = NodeResult | { wait: WaitRequest } | { loop: LoopRequest } | { end: RunEnd };

/** A call of a configured agent, through the port that the engine hands in. */
export interface AgentCall {
  agent_id: string;
  message: string;
  /** Seconds for the whole call, retries included. */
  timeout: number;
  /** Further tries after a 429, a 5xx or a dropped connection. */
  retries: number;
}

/** Everything that a node may use. Side effects come only through here, so node files load in a browser and in a test. */
export interface NodeContext<Config> {
  /** The node's config; fields marked `template` are already resolved to text. */
  config: Config;
  /**
   * What came to it: the output of the node before it, or, where that only decides, what came to that one; of several,
   * joined by a blank line in edge order.
   */
  upstream: string;
  /** What started the run. */
  trigger: { output: string; params: Record<string, unknown> };
  /** Tells viewers the next piece of the output while the node runs. */
  onDelta(content: string): void;
  callAgent(call: AgentCall): Promise<NodeResult | { wait: WaitRequest }>;
  /**
   * Runs Python in the sandbox of conditions; what it prints is kept beside the node, also when it fails.
   * @returns the value of its last expression: text as it is, anything else as JSON
   * @throws Error that names the line
   */
  runCode(call: CodeCall): Promise<string>;
  /**
   * Makes an HTTP call; status and headers of the answer are kept beside the node. Secrets in the answer are masked.
   * @throws Error with a sentence when there is no answer
   */
  callHttp(call: HttpCall): Promise<HttpAnswer>;
  /** Names this visit of the node, the same however often it is started: the execution, the node and the iteration. */
  visit: string;
  /** The value of a credential, in clear. @throws Error when the project has none of that name */
  secret(name: string): string;
  /** True when a template field reads a credential. */
  readsSecret(field: string): boolean;
  /** The time from which a deadline counts. */
  now(): Date;
  /** The secret that resolves the callback for which this attempt then waits. Whoever has it may, once; only its hash is kept. */
  callbackToken(): string;
  /** True when a template field (by its path, as `fields.0.value`) says something, even if that comes to empty text. */
  isWritten(field: string): boolean;
  /** The value of a template field that is a single expression, with its type kept; of any other its text. */
  typedValue(field: string): Promise<unknown>;
  /** The text of a template field that is JSON: what an expression within one of its strings brings is escaped. */
  jsonText(field: string): Promise<string>;
  /**
   * JSON of any length parsed and written anew.
   * @throws Error when that takes too much time or memory
   */
  rewriteJson(rewrite: JsonRewrite): RewrittenJson | Promise<RewrittenJson>;
  /** Returns true when a text of any length is JSON. */
  isJson(text: string): boolean | Promise<boolean>;
  /**
   * Whether a Python condition holds, with `output`, `trigger_output` and `node_outputs` at hand (specification, branchNode);
   * `output` is what the node before left behind, even where that only decides.
   * @throws Error that says what is wrong with the condition
   */
  evaluate(condition: string): boolean | Promise<boolean>;
}

/** A finding about a node's config before a run starts. */
export interface NodeProblem {
  field: string;
  message: string;
  /** `error` unless given: it prevents a run. */
  severity?: "error" | "warning";
}

/** What a check may look up. */
export interface NodeScope {
  /** Name of an agent of the project, or undefined when there is none with this id. */
  agentName(id: string): string | undefined;
  /** What is wrong with a Python condition, or undefined; left out where there is no Python at hand (a browser). */
  conditionFault?(condition: string): string | undefined;
  /** What is wrong with Python that has these inputs, or undefined; left out where there is no Python at hand. */
  codeFault?(code: string, inputs: readonly string[]): string | undefined;
  /** Name of a workflow of the project, or undefined when there is none with this id; left out where they are not known. */
  workflowName?(id: string): string | undefined;
  /** Whether somebody, by id or address, may decide reviews of the project; left out where members are not known. */
  isReviewer?(value: string): boolean;
  /** Names of the project's credentials; left out where they are not known, or the graph reads none. */
  credentialNames?: readonly string[] | undefined;
}

export interface NodeDefinition<Type extends string = string, Config extends z.ZodObject = z.ZodObject> {
  type: Type;
  /** Name of the type in the palette and on the card. */
  title: string;
  /** One sentence for the palette. */
  summary: string;
  group: NodeGroup;
  /** Whether edges may arrive. */
  hasInput: boolean;
  /** Names of the handles that edges leave from; null for a single unnamed one, empty for none. Where the config names them, a function of it as it was written. */
  handles: readonly string[] | null | ((data: Readonly<Record<string, unknown>>) => readonly string[]);
  /** Of a node with several ways out: the one by which a failure goes on. */
  errorHandle?: string;
  /** The way out by which a node lets things through that is switched off; left out, the first that is no body. */
  offHandle?: string;
  /** The way out that a connection means which names none: it gets that name when it is saved. Left out, of several it must name one. */
  plainHandle?: string;
  /** What people call a way out, where that is not its name. */
  handleTitle?(handle: string, data: Readonly<Record<string, unknown>>): string | undefined;
  /** Of a loop: the handle (also meant by an edge without one) that starts its body, and what only the body can read of it. */
  body?: {
    handle: string;
    fields: readonly string[];
    settings(config: z.infer<Config>): LoopSettings;
    /** Config field with the list. */
    input: string;
    /** Returns the items of a value. @throws Error when it is no list */
    itemsOf(value: unknown): unknown[];
  };
  /** Of a review: the handles which, with nothing attached, end the run as rejected. */
  rejects?: (data: Readonly<Record<string, unknown>>) => readonly string[];
  /**
   * Of a node that only decides: what follows it, with an empty field, takes what came to it and not its decision (contract,
   * section 4). A function says whether the node has decided only, of one that may bring something itself.
   */
  passesContent?: true | ((data: Readonly<Record<string, unknown>>, handle: string | null) => boolean);
  /** What expressions can read besides `output`, from what the node left behind. */
  fields?: Record<string, (left: LeftBehind) => unknown>;
  /** Whether such a node has one of them, where its config says so. */
  hasField?(field: string, data: Readonly<Record<string, unknown>>): boolean;
  /** Those of them that can be read from when it begins to wait, by nodes beside it too. */
  earlyFields?: readonly string[];
  /** Types that must not follow, by handle ("" for the unnamed one). Everything else with an input may. */
  refuses?: Record<string, readonly string[]>;
  /** Config fields with their defaults; the label is common to all. */
  config: Config;
  /** The field that a log shows as the node's input, and in place of which what came before is taken when it is empty; left out, the first one that may hold expressions. */
  input?: string;
  /** What a log shows as the node's input, where that is no field of it. */
  shownInput?(config: z.infer<Config>): string;
  /** Whether what came before is used, by a node for which its `input` being empty does not say so. */
  takesUpstream?(config: z.infer<Config>): boolean;
  /** True for work outside this process: written down before and after, so that a crash can tell. */
  isEffect: boolean;
  /** True for a node that gives secrets to whom they are for: its config has them in clear, that of every other node masked. */
  readsSecrets?: true;
  /**
   * Whether its work reaches beyond this service and the vendors of its models: the assistant asks a person before it runs that.
   * @param hasReach whether an agent has tools or knowledge that do
   */
  reachesOut?(config: z.infer<Config>, hasReach: (agent_id: string) => boolean): boolean;
  /** True for a node that starts runs of other workflows: they end with the one that it is in. */
  startsRuns?: true;
  /** True for nodes that take no part in a run. */
  isInert?: boolean;
  /** Names of the credentials that a config means other than by expressions. */
  credentials?(config: z.infer<Config>): string[];
  /** How often it may be started where the process died meanwhile; left out, five times. */
  mostStarts?: number;
  /** Name besides the label under which expressions find the node's output, e.g. its agent's name. */
  alias?(config: z.infer<Config>, scope: NodeScope): string | undefined;
  problems?(config: z.infer<Config>, scope: NodeScope): NodeProblem[];
  run?(ctx: NodeContext<z.infer<Config>>): Promise<NodeOutcome> | NodeOutcome;
  /**
   * Of a node that waits: what the end of its wait means, as the node's own result; `again` for a node that now does what it could not.
   * @throws Error when it means that the node has failed, with the reason
   */
  resume?(end: WaitEnd, config: z.infer<Config>): NodeResult | { again: true };
  /** True for a node that waits only where something is in its way: a run of it begins and ends as one that never waits. */
  waitsSeldom?: true;
  /**
   * Takes a text that a person pinned as the node's output: the handle it leaves by, if it has several. It also tells, of
   * what such a node left behind, by which handle it did. Left out, nothing can be pinned here.
   */
  pin?(output: string, data: Readonly<Record<string, unknown>>): PinnedResult;
}

/** What a pinned text stands for, or why it cannot be the node's output. */
export type PinnedResult = { handle: string | null } | { refusal: string };

/** Keeps a definition's exact type while checking its shape. */
export const defineNode = <const Type extends string, Config extends z.ZodObject>(
  definition: NodeDefinition<Type, Config>,
): NodeDefinition<Type, Config> => definition;

/** The field of every node whose failure may be passed on. */
export const onError = z
  .enum(["fail", "continue"])
  .default("fail")
  .meta({ title: "On error", description: "fail ends the run; continue passes the error on as text", advanced: true });

/** Marks a config field whose text may hold {{expressions}}. */
export const template = { template: true } as const;

declare module "zod" {
  interface GlobalMeta {
    /** The text may hold {{expressions}}, resolved when the node starts. */
    template?: boolean;
    /** Which control a form draws; left out, the field's type decides. */
    widget?:
      | "textarea"
      | "agent"
      | "assignees"
      | "code"
      | "credential"
      | "duration"
      | "moment"
      | "parameters"
      | "color"
      | "markdown"
      | "python"
      | "rows"
      | "group"
      | "params"
      | "text-or-params"
      | "version"
      | "workflow"
      | "cron"
      | "timezone"
      | "webhook";
    /** Of a duration: in which unit it is kept. */
    unit?: "second" | "hour" | undefined;
    /** Of a list: what one of its rows is called, on the buttons that add and remove it. */
    item?: string | undefined;
    /** Folded away under Advanced in a form. */
    advanced?: boolean;
  }
}
