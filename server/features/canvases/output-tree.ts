import { isObject, outputValue, pathStep } from "#server/features/canvases/propose-widgets.ts";
import { MAX_PATH, type OutputPart } from "#server/features/canvases/schema.ts";

// An output as a tree of what can be picked in it, small enough to be sent and drawn. Pure: loads anywhere.

const MAX_PARTS = 600;
const MAX_ENTRIES = 40;
const MAX_ITEMS = 5;
const MAX_DEPTH = 8;
const MAX_TEXT = 80;

const kindOf = (value: unknown): OutputPart["kind"] => {
  if (value === null || value === undefined) return "empty";
  if (Array.isArray(value)) return "list";
  const type = typeof value;
  return type === "object" || type === "number" || type === "boolean" ? type : "text";
};

function glimpse(value: unknown): string {
  if (Array.isArray(value)) return value.length === 1 ? "1 item" : `${value.length} items`;
  if (isObject(value)) return Object.keys(value).slice(0, 4).join(", ").slice(0, MAX_TEXT);
  const text = String(value ?? "");
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1).toWellFormed()}…` : text;
}

/** The parts of an output, the whole first. Of a list its items together come before the first few of them. */
export function outputTree(text: string): OutputPart {
  let left = MAX_PARTS;
  const part = (name: string, path: string, value: unknown, depth: number): OutputPart => {
    left--;
    const made = { name, path, kind: kindOf(value), text: glimpse(value) };
    return { ...made, parts: depth < MAX_DEPTH ? inside(path, value, depth + 1) : [] };
  };
  const inside = (path: string, value: unknown, depth: number): OutputPart[] => {
    const parts: OutputPart[] = [];
    const add = (name: string, own: string, item: unknown) => {
      if (left > 0 && own.length <= MAX_PATH) parts.push(part(name, own, item, depth));
    };
    if (isObject(value)) for (const [key, item] of Object.entries(value).slice(0, MAX_ENTRIES)) add(key, path + pathStep(key), item);
    else if (Array.isArray(value)) {
      const [first] = value;
      if (isObject(first)) add("each item", `${path}[*]`, first);
      for (const [index, item] of value.slice(0, MAX_ITEMS).entries()) add(`item ${index + 1}`, path + pathStep(index), item);
    }
    return parts;
  };
  return part("all of it", "$", outputValue(text), 0);
}
