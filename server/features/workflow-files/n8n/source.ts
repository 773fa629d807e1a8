import type { FileMask } from "#server/features/workflow-files/secrets.ts";
import { invalidField } from "#server/platform/errors.ts";
import { finished } from "#server/platform/time-slice.ts";

// A workflow of n8n as it lies in a file that anybody may have written: read key by key, never trusted to have a shape.

export type Json = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
export const recordOf = (value: unknown): Json => (isRecord(value) ? value : {});
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const wordOf = (value: unknown, otherwise = ""): string => (typeof value === "string" ? value : otherwise);

/** What lies at a path of a value's own keys. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const key of path) current = isRecord(current) && Object.hasOwn(current, key) ? current[key] : undefined;
  return current;
}

/** The types of n8n's own nodes, and of those that it has for models. */
export const base = (name: string): string => `n8n-nodes-base.${name}`;
export const langchain = (name: string): string => `@n8n/n8n-nodes-langchain.${name}`;

/** More nodes than anybody has drawn; a workflow here may have 2,000. */
const MOST_NODES = 1000;
const MOST_LINKS = 5000;
const MOST_EXPRESSIONS = 100_000;
const MOST_PLACE = 100_000;

export interface SourceNode {
  /** By which the connections know it; unique. */
  name: string;
  type: string;
  version: number;
  parameters: Json;
  x: number;
  y: number;
  isDisabled: boolean;
  /** Whether n8n went on when it failed, and whether by a way of its own. */
  onError: "stop" | "goes on" | "error way";
  /** Further tries; undefined where n8n had none. */
  retries: number | undefined;
  /** Names of its credentials, by their kind. */
  credentials: readonly { kind: string; name: string }[];
}

export interface Link {
  from: string;
  output: number;
  to: string;
  /** Which of the target's inputs. */
  input: number;
}

export interface Source {
  name: string;
  timezone: string;
  errorWorkflow: string;
  nodes: readonly SourceNode[];
  links: readonly Link[];
  /** Models, memories, tools and the like, with the node that each belongs to. */
  parts: readonly { from: string; to: string; kind: string }[];
  /** Connections from or to a node that is not in the file. */
  lost: number;
}

/** The workflow within a file of n8n, which a template of its site has one level deeper; undefined for a file of another kind. */
export function n8nWorkflowIn(raw: Json): Json | undefined {
  const inside = [raw, recordOf(at(raw, "workflow"))];
  return inside.find((file) => Array.isArray(at(file, "nodes")) && isRecord(at(file, "connections")));
}

/** A number, also one that was written as text; NaN for anything else. */
export const numberIn = (value: unknown): number =>
  typeof value === "number" || (typeof value === "string" && value.trim() !== "") ? Number(value) : Number.NaN;

/** A value as a person would read it. */
export const shown = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(pruned(value));

const numberOf = (value: unknown): number => (Number.isFinite(value) ? Math.max(-MOST_PLACE, Math.min(MOST_PLACE, numberIn(value))) : 0);

function credentialsOf(value: unknown): SourceNode["credentials"] {
  return Object.entries(recordOf(value))
    .slice(0, 10)
    .map(([kind, chosen]) => ({ kind, name: wordOf(at(chosen, "name"), wordOf(chosen, kind)) }));
}

function errorWay(node: Json): SourceNode["onError"] {
  if (at(node, "onError") === "continueErrorOutput") return "error way";
  return at(node, "onError") === "continueRegularOutput" || at(node, "continueOnFail") === true ? "goes on" : "stop";
}

function nodeOf(node: Json, name: string, mask: FileMask): SourceNode {
  const [x, y] = listOf(at(node, "position"));
  const tries = numberIn(at(node, "maxTries") ?? 3);
  return {
    name,
    type: wordOf(at(node, "type")),
    version: numberOf(at(node, "typeVersion")) || 1,
    // Whoever may read the workflow would read a secret that somebody typed in.
    parameters: finished(mask.fields(recordOf(pruned(at(node, "parameters"), TO_CONVERT)), { of: "node", name })),
    x: numberOf(x),
    y: numberOf(y),
    isDisabled: at(node, "disabled") === true,
    onError: errorWay(node),
    retries: at(node, "retryOnFail") === true ? Math.min(5, Math.max(0, (Number.isFinite(tries) ? Math.floor(tries) : 3) - 1)) : undefined,
    credentials: credentialsOf(at(node, "credentials")),
  };
}

/** How many expressions a text holds at most. */
const expressionsIn = (text: string): number => Math.min(text.split("{{").length, text.split("}}").length) - 1;

const refused = (message: string) => invalidField("file.nodes", message);

/**
 * Nodes and connections of a workflow of n8n.
 * @param mask takes out what looks like a secret
 * @throws AppError VALIDATION_ERROR for one without a node that says its type, or with too many
 */
export function readSource(raw: Json, mask: FileMask): Source {
  const rows = listOf(at(raw, "nodes")).filter((node): node is Json => isRecord(node) && wordOf(at(node, "type")) !== "");
  if (rows.length === 0)
    throw refused("This looks like a workflow of n8n, and there is no node in it that says its type. Export it from n8n once more.");
  if (rows.length > MOST_NODES)
    throw refused(`This is a workflow of n8n with ${rows.length} nodes, and an import takes at most ${MOST_NODES}. Split it in n8n first.`);
  const nodes = new Map<string, SourceNode>();
  const namesById = new Map<string, string>();
  for (const row of rows) {
    const wanted = wordOf(at(row, "name")) || wordOf(at(row, "type")).split(".").at(-1) || "Node";
    let name = wanted;
    for (let number = 2; nodes.has(name); number++) name = `${wanted} ${number}`;
    nodes.set(name, nodeOf(row, name, mask));
    const id = wordOf(at(row, "id"));
    if (id !== "" && !namesById.has(id)) namesById.set(id, name);
  }
  const expressions = [...nodes.values()].reduce((sum, { parameters }) => sum + expressionsIn(JSON.stringify(parameters)), 0);
  if (expressions > MOST_EXPRESSIONS)
    throw refused(`This is a workflow of n8n with ${expressions} expressions, and an import takes at most ${MOST_EXPRESSIONS}.`);
  const links: Link[] = [];
  const parts: { from: string; to: string; kind: string }[] = [];
  let lost = 0;
  for (const [key, ways] of Object.entries(recordOf(at(raw, "connections")))) {
    const from = nodes.has(key) ? key : namesById.get(key);
    for (const [kind, outputs] of Object.entries(recordOf(ways)))
      for (const [output, targets] of listOf(outputs).entries())
        for (const target of listOf(targets)) {
          const end = wordOf(at(target, "node"));
          const to = nodes.has(end) ? end : namesById.get(end);
          if (from === undefined || to === undefined) {
            lost += 1;
            continue;
          }
          if (links.length + parts.length >= MOST_LINKS)
            throw refused(`This is a workflow of n8n with more than ${MOST_LINKS} connections. Split it in n8n first.`);
          if (kind === "main") links.push({ from, output, to, input: numberOf(at(target, "index")) });
          else parts.push({ from, to, kind });
        }
  }
  return {
    name: wordOf(at(raw, "name")),
    timezone: wordOf(at(raw, "settings", "timezone")),
    errorWorkflow: wordOf(at(raw, "settings", "errorWorkflow")),
    nodes: [...nodes.values()],
    links,
    parts,
    lost,
  };
}

const MOST_DEPTH = 20;

/** How much of a value is kept. */
interface Bounds {
  text: number;
  entries: number;
}
/** What a person reads of it. */
const TO_READ: Bounds = { text: 4000, entries: 200 };
const TO_CONVERT: Bounds = { text: 400_000, entries: 2000 };

/** A value as deep and as long as anybody needs it: what was made as deep as somebody liked is safe to go through afterwards. */
export function pruned(value: unknown, bounds: Bounds = TO_READ, depth = 0): unknown {
  if (typeof value === "string") return value.length > bounds.text ? `${value.slice(0, bounds.text).toWellFormed()}…` : value;
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MOST_DEPTH) return "…";
  if (Array.isArray(value)) return value.slice(0, bounds.entries).map((item) => pruned(item, bounds, depth + 1));
  const entries = Object.entries(value).slice(0, bounds.entries);
  return Object.fromEntries(entries.map(([key, item]) => [key, pruned(item, bounds, depth + 1)]));
}
