import type pg from "pg";
import { expect, test } from "vitest";
import { setSettings } from "#server/platform/settings.ts";
import { commitStatement } from "#server/runs/store/commit-statement.ts";
import { insertStatement } from "#server/runs/store/insert-statement.ts";

// The driver rejects a second text under the name of a prepared statement.

setSettings({ DATABASE_URL: "postgres://localhost/none" });

const both = [false, true];
const texts: [string[], string[]] = [["hash"], ["text"]];

/** Commits of every kind; `n` makes their values. */
const commits = (n: number) =>
  both.flatMap((hasWaits) =>
    both.flatMap((endsChild) =>
      both.flatMap((hasCalls) =>
        both.map((hasTexts) =>
          commitStatement({
            run: { id: `run ${n}`, holder: `holder ${n}`, commits: n },
            rows: `[${n}]`,
            events: `[${n}]`,
            ending: n % 2 ? null : "{}",
            waits: hasWaits ? `{"waits":[${n}]}` : null,
            texts: hasTexts ? texts : undefined,
            status: n % 2 ? null : "paused",
            input_tokens: n,
            output_tokens: n,
            bytes: n,
            sources: n % 2 ? [] : [` a${n}`],
            deltasAfter: n,
            isAsync: n % 2 === 0,
            endsChild,
            hasCalls,
          }),
        ),
      ),
    ),
  );

/** Insertions of every kind; `n` makes their values. */
const inserts = (n: number) => {
  const execution = {
    project_id: `project ${n}`,
    workflow_id: `workflow ${n}`,
    workflow_version: n % 2 ? n : null,
    snapshot_id: `snapshot ${n}`,
    trigger: "api" as const,
    started_by_id: null,
    input: `input ${n}`,
    params: null,
    ...(n % 2 && { due_at: new Date(n), parent: { execution_id: "parent", node_id: "a", depth: n } }),
  };
  const begun = { holder: n % 2 ? null : "holder", elapsed: n, slots: n, agent_ids: n % 2 ? [] : ["agent"], texts: undefined };
  const first = { rows: `[${n}]`, events: `[${n}]` };
  const whole = { ...first, ending: "{}" };
  const kinds = [
    undefined,
    begun,
    ...[first, whole].flatMap((one) => [undefined, texts].map((list) => ({ ...begun, first: one, texts: list }))),
  ];
  const delivery = { id: `delivery ${n}`, delivery_key: n % 2 ? null : "key", body: `body ${n}` };

  return kinds.flatMap((one) =>
    [undefined, delivery].map((other) =>
      insertStatement({ id: `run ${n}`, execution, params: null, words: [`word${n}`], bytes: n, delivery: other, begun: one }),
    ),
  );
};

const textsByName = (statements: pg.QueryConfig[]) => new Map(statements.map(({ name, text }) => [name, text]));

test.each([
  ["commits", commits, 16],
  ["insertions", inserts, 12],
])("names %s by all that changes their text", (_, build, count) => {
  const [some, others] = [textsByName(build(1)), textsByName(build(2))];

  expect([some.size, new Set(some.values()).size]).toEqual([count, count]);
  expect(some).toEqual(others);
});
