import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

// The map of the house, and the few lines of each larger folder, name every folder that is there.

const root = join(import.meta.dirname, "..");
const ROOMS = ["app", "components", "server", "e2e"];
/** What a run of tests leaves, and chapters of the guide, which its navigation names. */
const UNNAMED = /^e2e\/artifacts$|^app\/docs\//;

const foldersIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .filter((name) => !UNNAMED.test(`${folder}/${name}`));

const texts = ROOMS.flatMap((room) =>
  readdirSync(join(root, room), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith("README.md"))
    .map((file) => [join(room, file), join(room, dirname(file))] as const),
);

test.each([["README.md", "server"] as const, ...texts])("%s names every folder of %s", (file, folder) => {
  const words = new Set(readFileSync(join(root, file), "utf8").match(/[\w-]+/g));
  expect(foldersIn(folder).filter((name) => !words.has(name))).toEqual([]);
});
