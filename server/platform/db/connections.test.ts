import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

// A connection to PostgreSQL that breaks while it does nothing tells so by an error event, also one of a pool that has ended just
// now. Where nobody listens for it, the process ends.

const OPENED = /\bnew (pg\.)?(Client|Pool)\(/g;
const FROM_PG = /from "pg"/;
const LISTENS = /\.on\("error"/g;

test("whoever opens a connection to the database listens for its errors", () => {
  const files = readdirSync("server", { recursive: true, encoding: "utf8" })
    .map((name) => `server/${name}`)
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  const opening = files.map((name) => ({ name, text: readFileSync(name, "utf8") })).filter(({ text }) => FROM_PG.test(text));
  const counts = opening.map(({ name, text }) => ({
    name,
    opened: text.match(OPENED)?.length ?? 0,
    listens: text.match(LISTENS)?.length ?? 0,
  }));
  expect(counts.filter(({ opened }) => opened > 0).length).toBeGreaterThan(9);
  expect(counts.filter(({ opened, listens }) => listens < opened)).toEqual([]);
});
