import { z } from "zod";
import type { NodeDefinition } from "#server/workflow/nodes/definition.ts";

// The texts of a node's config that mean something to others than the node, wherever in the config they stand: templates, which
// may hold {{expressions}}, Python conditions, and texts for people. The schema of the node's type says where.

/** What a text is: its field's `meta` says so (definition.ts). */
export type TextKind = "template" | "python" | "markdown";

/** A text of a config. */
export interface NodeText {
  /** Its place in the config, e.g. `value` or `fields.0.value`. */
  path: string;
  text: string;
}

/** Stands for every item of a list, or every entry of a record. */
const EACH = Symbol("each");
type Place = readonly (string | typeof EACH)[];

const isKind = (schema: z.ZodType, kind: TextKind): boolean =>
  kind === "template" ? schema.meta()?.template === true : schema.meta()?.widget === kind;

/** Where texts of a kind may stand in what a schema describes. */
function placesIn(schema: z.ZodType, kind: TextKind): Place[] {
  if (isKind(schema, kind)) return [[]];
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return placesIn(schema.unwrap() as z.ZodType, kind);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => placesIn(option as z.ZodType, kind));
  if (schema instanceof z.ZodArray) return placesIn(schema.element as z.ZodType, kind).map((place) => [EACH, ...place]);
  if (schema instanceof z.ZodRecord) return placesIn(schema.valueType as z.ZodType, kind).map((place) => [EACH, ...place]);
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([name, field]) => placesIn(field as z.ZodType, kind).map((place) => [name, ...place]));
  return [];
}

type Typed = Pick<NodeDefinition, "config">;

const known = new WeakMap<z.ZodType, Map<TextKind, readonly Place[]>>();

/** Where a type's config has texts of a kind. */
function placesOf({ config }: Typed, kind: TextKind): readonly Place[] {
  const kinds = known.get(config) ?? new Map<TextKind, readonly Place[]>();
  known.set(config, kinds);
  const places = kinds.get(kind) ?? placesIn(config, kind);
  kinds.set(kind, places);
  return places;
}

/** True when nodes of this type have texts of a kind. */
export const hasTexts = (definition: Typed, kind: TextKind): boolean => placesOf(definition, kind).length > 0;

/** A value with each text at a place as `change` makes it; the same value when nothing has changed. */
function changedAt(value: unknown, [step, ...rest]: Place, path: string, change: (text: string, path: string) => string): unknown {
  if (step === undefined) return typeof value === "string" ? change(value, path) : value;
  if (value === null || typeof value !== "object") return value;
  const names = step === EACH ? Object.keys(value) : Object.hasOwn(value, step) ? [step] : [];
  let copy: Record<string, unknown> | undefined;
  for (const name of names) {
    const before: unknown = Reflect.get(value, name);
    const after = changedAt(before, rest, path === "" ? name : `${path}.${name}`, change);
    if (after === before) continue;
    copy ??= (Array.isArray(value) ? [...value] : { ...value }) as unknown as Record<string, unknown>;
    copy[name] = after;
  }
  return copy ?? value;
}

/** A node's data with each of its texts of a kind as `change` makes it; the same object when nothing has changed. */
export const withTexts = <Data extends Readonly<Record<string, unknown>>>(
  definition: Typed,
  data: Data,
  kind: TextKind,
  change: (text: string, path: string) => string,
): Data => placesOf(definition, kind).reduce<Data>((now, place) => changedAt(now, place, "", change) as Data, data);

/** Every text of a kind that stands in a node's data. What should be a text and is none is passed over. */
export function textsOf(definition: Typed | undefined, data: Readonly<Record<string, unknown>>, kind: TextKind): NodeText[] {
  const found: NodeText[] = [];
  if (definition)
    withTexts(definition, data, kind, (text, path) => {
      found.push({ path, text });
      return text;
    });
  return found;
}

/** The field of the config that a path begins with. */
export const fieldOf = (path: string): string => path.split(".", 1)[0] ?? path;
