import type { LucideIcon } from "lucide-react";
import type { ComponentType } from "react";
import type { z } from "zod";
import type { NodeType, nodeDefinitions } from "#server/workflow/nodes/registry.gen.ts";

/** Config of a type, with defaults filled in. */
export type NodeConfig<Type extends NodeType> = z.infer<(typeof nodeDefinitions)[Type]["config"]>;

/** What a card's sentence may look up. */
export interface NodeLookups {
  /** Name of an agent; undefined when there is none with this id, null while the list is loading. */
  agentName(id: string): string | null | undefined;
}

/** Plain words, or a value in a chip. */
export type SentencePart =
  | string
  | {
      chip: string;
      /** "expression" for a reference, "code", "missing" for a slot that must be filled, "quiet" for what stands in by default. */
      tone?: "value" | "expression" | "code" | "missing" | "quiet";
    }
  /** A cron expression, shown in words. */
  | { cron: string }
  /** A workflow by its id, shown by its name. */
  | { workflow: string }
  /** A Python condition, shown in words where rows say it. */
  | { condition: string };

/** What stands in a sentence once its conditions are put into words. */
export type PlainPart = Exclude<SentencePart, { condition: string }>;

/** Names of the colours by what a node is for (the --role-* tokens). */
export type NodeRole = "agent" | "logic" | "flow" | "state" | "interface" | "human" | "output";

/** Words for a choice of an enum field. */
export interface ChoiceWords {
  label: string;
  description?: string;
  /** In place of the label where it shares a line with other fields. */
  sign?: string;
}

/** How one node type looks. Everything else about it stands in its definition (server/workflow/nodes). */
export interface NodeUi<Type extends NodeType = NodeType> {
  icon: LucideIcon;
  role: NodeRole;
  /** The card's one sentence. */
  sentence(config: NodeConfig<Type>, lookups: NodeLookups): SentencePart[];
  /** The fields that this config has, in the order of its form; left out, all of the schema. */
  fields?(config: NodeConfig<Type>): readonly string[];
  /** The schema of a field for this config, where it depends on that; undefined for the one that the type says. */
  schemaOf?(field: string, config: NodeConfig<Type>): z.ZodType | undefined;
  /** Words for the choices of an enum field, by field and value. */
  choices?: Record<string, Record<string, ChoiceWords>>;
  /** Said of it while it waits, on the card and where its output will stand; left out, that it waits. `until`: when that is over at the latest. */
  waits?(config: NodeConfig<Type>, until: string | undefined): string;
  /** What a first pin of its output says where no run has left one. */
  firstPin?: string;
  /** Draws the whole node in place of the card, e.g. a note. */
  Card?: ComponentType<{ id: string; config: NodeConfig<Type>; label: string }>;
}

/** Words for the field `onError` (definition.ts), which all types share that have it. */
export const ON_ERROR = {
  fail: { label: "End the run", description: "The run fails with the error" },
  continue: { label: "Go on", description: "The error text is passed on as the output" },
};

/** One entry for each node type: a type without one does not compile. */
export type NodeUiRegistry = { [Type in NodeType]: NodeUi<Type> };
