import fc from "fast-check";
import { HOSTILE_BODIES, type HostileValues } from "#server/testing/api/hostile.ts";
import type { Operation } from "#server/testing/api/operations.ts";
import type { Json, Sample } from "#server/testing/api/samples.ts";
import { type Wire, wireOf } from "#server/testing/api/send.ts";

/** Makes a well-formed request into one that is off in one place. */
export interface Mutation {
  /** Which place, e.g. `body nodes.0.data.kind`. */
  place: string;
  apply(sample: Sample): Wire;
}

/** How many values each place gets. */
export interface Amount {
  ofField: number;
  ofNestedField: number;
  /** Places inside a body's fields that are tried, at most. */
  nestedFields: number;
  ofParameter: number;
  /**
   * Bodies that are no object, and names that nobody knows: the same door refuses them for every operation, so each operation gets
   * others of them.
   */
  ofDoor: number;
}

type Path = (string | number)[];

const MARK = "the value goes here";

/** Every place inside a value, itself not. */
function placesIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [];
  const keys: Path = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return keys.flatMap((key) => [[...path, key], ...placesIn(Reflect.get(value, key), [...path, key])]);
}

/** A copy of `body` as JSON text, changed at a place of it. */
function changed(body: Json, path: Path, change: (at: object, key: string | number) => void): string {
  const copy: Json = structuredClone(body);
  const at = path.slice(0, -1).reduce<unknown>((inner, key) => Reflect.get(Object(inner), key), copy);
  const key = path.at(-1);
  if (typeof at === "object" && at !== null && key !== undefined) change(at, key);
  return JSON.stringify(copy);
}

const withText = (body: Json, path: Path, text: string): string =>
  changed(body, path, (at, key) => Reflect.set(at, key, MARK)).replace(JSON.stringify(MARK), () => text);

const without = (body: Json, path: Path): string =>
  changed(body, path, (at, key) => (Array.isArray(at) ? at.splice(Number(key), 1) : Reflect.deleteProperty(at, key)));

/** A header may hold these bytes only; other values never leave this machine. */
const isHeader = (text: string) => /^[\x21-\x7e\x80-\xff]([\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/.test(text);

/** A number for a name, so that each operation has values of its own and keeps them. */
const hash = (name: string) => [...name].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) | 0, 7);

/** @param seed the same seed makes the same mutations of the same values */
export function mutationsOf(
  operation: Operation,
  sample: Sample,
  { amount, seed, values }: { amount: Amount; seed: number; values: HostileValues },
): Mutation[] {
  let drawn = 0;
  const draw = <T>(from: fc.Arbitrary<T>, count: number): T[] => {
    drawn += 1;
    return fc.sample(from, { seed: seed + hash(operation.name) + drawn, numRuns: count });
  };
  const list: Mutation[] = [];
  const add = (place: string, apply: Mutation["apply"]) => list.push({ place, apply });

  for (const { in: where, name } of operation.parameters) {
    for (const value of draw(values.text, amount.ofParameter)) {
      const place = `${where} ${name}`;
      if (where === "path") add(place, (given) => wireOf(operation, { ...given, path: { ...given.path, [name]: value } }));
      else if (where === "query") add(place, (given) => wireOf(operation, { ...given, query: { ...given.query, [name]: value } }));
      else if (isHeader(value)) {
        add(place, (given) => {
          const wire = wireOf(operation, given);
          return { ...wire, headers: { ...wire.headers, [name]: Buffer.from(value, "latin1").toString("latin1") } };
        });
      }
    }
  }
  const some = <T>(all: readonly T[]): T[] =>
    draw(
      fc.shuffledSubarray([...all], {
        minLength: Math.min(amount.ofDoor, all.length),
        maxLength: Math.min(amount.ofDoor, all.length),
      }),
      1,
    ).flat();
  for (const key of some(["no_such_parameter", "__proto__", "constructor", "page[]", "page.x", "%"]))
    add("query of another name", (given) => wireOf(operation, { ...given, query: { ...given.query, [key]: "1" } }));
  if (operation.method === "GET") return list;

  for (const bytes of some(HOSTILE_BODIES)) add("the whole body", (given) => wireOf(operation, given, bytes));
  const { body = {} } = sample;
  const isNested = (path: Path) => path.length > 1;
  const places = placesIn(body);
  const declared = operation.bodyFields.filter((name) => !(name in body)).map((name): Path => [name]);
  const nested = draw(
    fc.shuffledSubarray(places.filter(isNested), { minLength: Math.min(amount.nestedFields, places.filter(isNested).length) }),
    1,
  );
  for (const path of [...places.filter((path) => !isNested(path)), ...declared, ...(nested[0] ?? []).slice(0, amount.nestedFields)]) {
    const place = `body ${path.join(".")}`;
    for (const value of draw(values.json, isNested(path) ? amount.ofNestedField : amount.ofField))
      add(place, (given) => wireOf(operation, given, withText(given.body ?? {}, path, value)));
    add(`${place} left out`, (given) => wireOf(operation, given, without(given.body ?? {}, path)));
  }
  for (const key of some(["no_such_field", "__proto__", "constructor", "", "\u0000"]))
    add(`body with "${key}"`, (given) =>
      wireOf(
        operation,
        given,
        withText({ ...given.body, stray: 1 }, ["stray"], "1").replace('"stray"', () => JSON.stringify(key)),
      ),
    );
  return list;
}
