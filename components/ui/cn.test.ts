import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { extendTailwindMerge } from "tailwind-merge";
import { expect, test } from "vitest";
import { cn } from "#components/ui/cn.ts";

/** What the library makes of classes by its table of all of Tailwind. */
const whole = extendTailwindMerge({
  extend: { classGroups: { "font-size": [{ text: ["12", "13", "14", "16", "18", "24"] }] } },
});

/** Every word between quotes that the library knows as a class. */
function classesIn(folder: string): string[] {
  const root = join(import.meta.dirname, "../..", folder);
  const sources = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (name) => /(?<!\.test)\.tsx?$/.test(name) && name !== "ui/cn.ts",
  );
  return sources.flatMap((name) =>
    [...readFileSync(join(root, name), "utf8").matchAll(/"([^"\n]+)"|`([^`]+)`/g)].flatMap(([, plain, template]) =>
      (plain ?? template ?? "").split(/\s+/).filter((word) => word !== "" && !word.includes("$") && whole(`${word} ${word}`) === word),
    ),
  );
}

/** The same in another order; which one is told by a number. */
function shuffled(words: readonly string[], seed: number): string[] {
  let state = seed;
  const keyed = words.map((word) => {
    state = (state * 48271) % 2147483647;
    return { word, at: state };
  });
  return keyed.sort((a, b) => a.at - b.at).map(({ word }) => word);
}

test("of the classes that are used, those win that win by the table of all classes", () => {
  const classes = [...new Set([...classesIn("components"), ...classesIn("app")])];
  expect(classes.length).toBeGreaterThan(800);
  for (let seed = 1; seed <= 40; seed++) {
    const words = shuffled(classes, seed).join(" ");
    const [left, expected] = [cn(words).split(" "), new Set(whole(words).split(" "))];
    expect(left.filter((word) => !expected.has(word))).toEqual([]);
    expect(expected.size).toBe(left.length);
  }
});
