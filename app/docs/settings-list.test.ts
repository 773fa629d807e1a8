import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { settingGroups } from "#app/docs/settings-list.ts";
import { Environment } from "#server/platform/settings.ts";

/** Set by the service itself or by Node, and nobody's to choose. */
const OWN = [
  "NODE_ENV",
  "AUTH_TRUST_HOST",
  "TREADLE_EMBEDDED_DATABASE",
  "TREADLE_FRONT_TOKEN",
  "TREADLE_SETUP_CODE",
  "TREADLE_FOLDER_NAME",
];

const rows = settingGroups.flatMap((group) => group.rows);
const variables = Object.keys(Environment.shape).filter((name) => !OWN.includes(name));

/** A value as it would stand in the environment. */
const written = (value: unknown): string | null => {
  if (value === undefined) return null;
  return typeof value === "boolean" ? String(Number(value)) : String(value);
};

test("the guide lists every setting once, with the default that holds", () => {
  const defaults: Record<string, unknown> = Environment.parse({});
  expect(rows.map(({ name }) => name).toSorted()).toEqual(variables.toSorted());
  for (const { name, preset } of rows) expect([name, preset]).toEqual([name, written(defaults[name])]);
});

test("so does .env.example", () => {
  const file = readFileSync(join(import.meta.dirname, "../../.env.example"), "utf8");
  const found = [...file.matchAll(/^([A-Z_]+)=(.*)$/gm)];
  expect(found.map(([, name]) => name).toSorted()).toEqual(variables.toSorted());
  const presets = new Map(rows.map(({ name, preset }) => [name, preset]));
  for (const [, name = "", value] of found) if (value) expect([name, value]).toEqual([name, presets.get(name)]);
});

test("the examples of settings name settings", () => {
  const examples = join(import.meta.dirname, "examples");
  for (const file of ["several-processes.env", "inngest.env"]) {
    const lines = readFileSync(join(examples, file), "utf8").trim().split("\n");
    for (const line of lines) expect(variables).toContain(/^([A-Z_]+)=.+$/.exec(line)?.[1]);
  }
});
