import type { Find, Reading } from "#server/features/workflow-files/n8n/javascript.ts";
import { isRecord, type Json, listOf, type SourceNode } from "#server/features/workflow-files/n8n/source.ts";
import type { PathPart } from "#server/workflow/expressions.ts";
import type { NodeType } from "#server/workflow/nodes/registry.gen.ts";

// What a row of the table of nodes is given, and what it says.

/** One node while it is carried over. */
export interface Step {
  source: SourceNode;
  /** What it is called here. */
  label: string;
  find: Find;
  /** The same, without what only became a note. */
  findHere: Find;
  /** The loop whose item comes to it, which a condition reads as `output`. */
  itemOf: string | undefined;
  /** A text with its expressions as ours. */
  text(value: unknown, field?: string): string;
  /** Something that a person has to see to. */
  toDo(message: string, field?: string): void;
  /** What came to it. */
  input(path: readonly PathPart[]): Reading | undefined;
  /** The nodes of n8n that belong to it: its model, its tools. */
  parts: readonly SourceNode[];
  /** The nodes that lead to it, each once, as expressions. */
  inputs(): readonly string[];
  /** The loop that it stands in or after, as an expression of its results; undefined outside of loops. */
  loop(): string | undefined;
}

export interface Kind {
  type: NodeType;
  data(step: Step): Json;
  /** What another node reads of it; left out, its output. */
  reads?(step: Step, path: readonly PathPart[], output: number): Reading | undefined;
  /** It gives nothing of its own: what came to it goes on. */
  passes?: true;
  /** The ways out that stand for one of n8n's; left out, the first one alone. */
  ways?(source: SourceNode, output: number): readonly string[];
}

/** The output of a node, or a part of it. */
export const outputOf = (label: string, path: readonly PathPart[]): Reading => ({ head: label, field: "output", path });
/** A row of a list of names and values. */
export const pair = (name: string, value: string) => ({ name, value });
/** The objects of a list. */
export const rows = (list: unknown): readonly Json[] => listOf(list).filter(isRecord).slice(0, 100);

/** Whether the beginning of a path is this one; what follows it. */
export const after = (path: readonly PathPart[], ...beginning: readonly PathPart[]): readonly PathPart[] | undefined =>
  beginning.every((part, index) => path[index] === part) ? path.slice(beginning.length) : undefined;

/** A name in letters that every language takes. */
export const slug = (text: string): string =>
  text
    .slice(0, 200)
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_|_$/g, "")
    .replace(/^(?=\d)/, "_")
    .slice(0, 60);

/** A name of n8n as one that a credential can have here. */
export const credentialName = (name: string): string => slug(name).toUpperCase() || "CREDENTIAL";
