import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Environment, settingGroups } from "#server/platform/settings-schema.ts";

const root = join(import.meta.dirname, "../..");
const rows = settingGroups.flatMap((group) => group.rows);
const variables = Object.keys(Environment.shape).filter((name) => !name.startsWith("TREADLE_"));

/** A value as it would stand in the environment. */
const written = (value: unknown): string | null => {
  if (value === undefined) return null;
  return typeof value === "boolean" ? String(Number(value)) : String(value);
};

test("the guide lists every setting once, with the default that holds and what it means", () => {
  const defaults: Record<string, unknown> = Environment.parse({});
  expect(rows.map(({ name }) => name).toSorted()).toEqual(variables.toSorted());
  for (const { name, preset } of rows) expect([name, preset]).toEqual([name, written(defaults[name])]);
  expect(rows.filter(({ meaning }) => meaning === "")).toEqual([]);
});

test("so does .env.example", () => {
  const found = [...readFileSync(join(root, ".env.example"), "utf8").matchAll(/^([A-Z_]+)=(.*)$/gm)];
  expect(found.map(([, name]) => name).toSorted()).toEqual(variables.toSorted());
  const presets = new Map(rows.map(({ name, preset }) => [name, preset]));
  for (const [, name = "", value] of found) if (value) expect([name, value]).toEqual([name, presets.get(name)]);
});

test("the examples of settings name settings", () => {
  for (const file of ["several-processes.env", "inngest.env"]) {
    const lines = readFileSync(join(root, "app/docs/examples", file), "utf8")
      .trim()
      .split("\n");
    for (const line of lines) expect(variables).toContain(/^([A-Z_]+)=.+$/.exec(line)?.[1]);
  }
});
