import { quoteText } from "#server/workflow/expression-scan.ts";

// Walking into JSON values the way expressions do.

/** What kind of value it is, in a word or two. */
export function describeKind(value: unknown): string {
  if (value === null || value === undefined) return "empty";
  if (Array.isArray(value)) return value.length === 1 ? "list of 1" : `list of ${value.length}`;
  if (typeof value === "boolean") return "yes or no";
  return typeof value === "string" ? "text" : typeof value;
}

/** A text that is a JSON object or list, parsed; anything else as it is. */
export function parseIfJson(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Most entries of one object or list that are offered. */
const MAX_ENTRIES = 50;

/** What is inside a value: of an object its fields, of a list its first items. */
export function childEntries(value: unknown): [key: string | number, item: unknown][] {
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map((item, index) => [index, item]);
  return value !== null && typeof value === "object" ? Object.entries(value).slice(0, MAX_ENTRIES) : [];
}

/** The next step of an expression's path. */
export const pathStep = (key: string | number): string =>
  typeof key === "number" ? `[${key}]` : /^[^\s.[\]{}"'|]+$/.test(key) ? `.${key}` : `[${quoteText(key)}]`;

/** Names that a JSON Schema gives an object, with what they are; empty for anything else. */
export function schemaFields(schema: unknown): [name: string, about: string][] {
  if (schema === null || typeof schema !== "object") return [];
  const properties: unknown = Reflect.get(schema, "properties");
  if (properties === null || typeof properties !== "object") return [];
  return Object.entries(properties)
    .slice(0, MAX_ENTRIES)
    .map(([name, field]) => {
      const { type, description } = (field ?? {}) as { type?: unknown; description?: unknown }; // cast: read with care below
      return [name, [type, description].filter((text) => typeof text === "string" && text !== "").join(", ")];
    });
}
