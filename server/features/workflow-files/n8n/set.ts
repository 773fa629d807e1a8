import { at, isRecord, type Json, recordOf, type SourceNode, wordOf } from "#server/features/workflow-files/n8n/source.ts";
import { type Kind, outputOf, rows } from "#server/features/workflow-files/n8n/step.ts";

// Edit Fields (Set) of n8n, in any version.

interface SetRow {
  name: string;
  value: unknown;
  type: "text" | "number" | "boolean" | "json";
}

const SET_TYPES: Readonly<Record<string, SetRow["type"]>> = {
  ...{ number: "number", numberValue: "number", boolean: "boolean", booleanValue: "boolean" },
  ...{ array: "json", arrayValue: "json", object: "json", objectValue: "json" },
};
const setType = (type: string): SetRow["type"] => (Object.hasOwn(SET_TYPES, type) ? (SET_TYPES[type] as SetRow["type"]) : "text");

/** The JSON object of a Set that is written as JSON; undefined where it is one only once it is filled in. */
function rawObject(parameters: Json): Json | undefined {
  const text = at(parameters, "jsonOutput");
  try {
    const object: unknown = isRecord(text) ? text : JSON.parse(wordOf(text).replace(/^=/, ""));
    return isRecord(object) ? object : undefined;
  } catch {
    return undefined;
  }
}

const known = new WeakMap<SourceNode, readonly SetRow[]>();

/** The fields of a Set of any version; found out once, since every node behind it may ask. */
function setRows(source: SourceNode): readonly SetRow[] {
  const found = known.get(source) ?? readSetRows(source);
  known.set(source, found);
  return found;
}

function readSetRows({ parameters: p }: SourceNode): readonly SetRow[] {
  if (at(p, "mode") === "raw") {
    const object = rawObject(p);
    if (!object) return [{ name: "json", value: at(p, "jsonOutput"), type: "json" }];
    return Object.entries(object).map(([name, value]) => {
      if (typeof value === "string") return { name, value: value.includes("{{") ? `=${value}` : value, type: "text" };
      return {
        name,
        value: value === null ? "null" : value,
        type: setType(Array.isArray(value) || value === null ? "object" : typeof value),
      };
    });
  }
  const field = (row: Json, value: unknown, type: string): SetRow => ({ name: wordOf(at(row, "name")), value, type: setType(type) });
  return [
    ...rows(at(p, "assignments", "assignments")).map((row) => field(row, at(row, "value"), wordOf(at(row, "type")))),
    ...rows(at(p, "fields", "values")).map((row) => {
      const type = wordOf(at(row, "type"), "stringValue");
      return field(row, at(row, type), type);
    }),
    ...Object.entries(recordOf(at(p, "values"))).flatMap(([type, list]) => rows(list).map((row) => field(row, at(row, "value"), type))),
  ];
}

const keepsInput = ({ parameters: p, version }: SourceNode): boolean => {
  if (version < 3) return at(p, "keepOnlySet") !== true;
  if (version < 3.3) return at(p, "include") !== "none";
  return at(p, "includeOtherFields") === true;
};

export const set: Kind = {
  type: "setNode",
  data(step) {
    if (at(step.source.parameters, "mode") === "raw" && !rawObject(step.source.parameters))
      step.toDo("n8n put the whole object together as JSON; here it is the field “json”. Make a field of each of its parts.", "fields");
    const fields = setRows(step.source).map(({ name, value, type }) => ({
      name: name.slice(0, 200),
      value: step.text(value, "fields"),
      type,
    }));
    // What is not JSON cannot be kept; what later nodes read of it they read where it came from.
    const kept = step.input(["x"]);
    const isObject = kept !== undefined && kept.path.length > 0;
    return { fields, keep_input: keepsInput(step.source) && isObject };
  },
  reads(step, path) {
    const set = setRows(step.source);
    const isRaw = at(step.source.parameters, "mode") === "raw" && !rawObject(step.source.parameters);
    if (isRaw) return outputOf(step.label, ["json", ...path]);
    const own = set.map(({ name }) => name).filter((name) => path.slice(0, name.split(".").length).join(".") === name);
    const longest = own.sort((a, b) => b.length - a.length)[0];
    if (longest !== undefined) return outputOf(step.label, [longest, ...path.slice(longest.split(".").length)]);
    const isPart = set.some(({ name }) => name.startsWith(`${path.join(".")}.`));
    return path.length === 0 || isPart || !keepsInput(step.source) ? outputOf(step.label, path) : step.input(path);
  },
};
