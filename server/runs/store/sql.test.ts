import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

// What a rule about imports cannot see: statements on the tables of a run are here and nowhere else.

const TABLES = "executions|execution_values|execution_events|execution_counts|execution_open|node_runs|node_run_values|run_texts|waits";
const MODELS = "execution|executionValues|executionEvent|executionCount|executionOpen|nodeRun|nodeRunValues|runText|wait";
const STATEMENT = new RegExp(
  `\\b(FROM|JOIN|INTO|UPDATE|USING)\\s+"?(${TABLES})\\b|\\.(${MODELS})\\s*\\.\\s*(find|create|update|delete|upsert|count|aggregate|groupBy)\\w*\\(`,
);
const NOT_OURS = /\.test\.tsx?$|^server\/(testing|runs\/store)\//;

test("no statement on the tables of a run stands outside of its store", () => {
  const files = ["app", "components", "server"]
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`))
    .filter((file) => /\.tsx?$/.test(file) && !NOT_OURS.test(file));
  expect(files.length).toBeGreaterThan(500);
  const found = files.flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .flatMap((line, index) => (STATEMENT.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : [])),
  );
  expect(found).toEqual([]);
});
