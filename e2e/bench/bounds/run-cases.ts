import { graphOf } from "#e2e/api/graphs.ts";
import { type Case, create, LONG, LONG_TEXT, outputOf, post, runsOf, savesOf } from "#e2e/bench/bounds/attack.ts";

export const runCases: Case[] = [
  {
    name: "2 unknown key of a large object",
    prepare: (install) => {
      const keys = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`${(index * 7919) % 99_991}key${index}`, 1]));
      return runsOf(
        install,
        [outputOf("{{trigger.output.averagekeyname}}"), outputOf("{{trigger.output.averagekeyname}}")],
        JSON.stringify(keys),
      );
    },
  },
  {
    name: "2 save with a reference of 100,000 letters",
    prepare: async (install) => savesOf(install, () => [{ name: "Letters", ...outputOf(`{{${"a".repeat(100_000)}.output}}`) }]),
  },
  {
    name: "4 filters over long texts",
    prepare: (install) =>
      runsOf(
        install,
        [
          graphOf(
            { t: ["trigger"], big: LONG_TEXT, o: ["output", { value: '{{big.output | replace("a", "b") | upper | trim | length}}' }] },
            ["t>big", "big>o"],
          ),
          graphOf(
            { t: ["trigger"], big: LONG_TEXT, o: ["output", { value: '{{big.output | escape | slice(1, -1) | split("z") | length}}' }] },
            ["t>big", "big>o"],
          ),
        ],
        LONG,
      ),
  },
  {
    name: "4 five length filters over a long list",
    prepare: (install) =>
      runsOf(
        install,
        [outputOf("{{trigger.output | length}} ".repeat(5))],
        JSON.stringify(Array.from({ length: 490_000 }, (_, index) => index % 10)),
        "[1]",
      ),
  },
  {
    name: "4 replace in a loop of three items",
    prepare: (install) =>
      runsOf(
        install,
        [
          graphOf(
            {
              t: ["trigger"],
              big: LONG_TEXT,
              L: ["loop", { items_expression: "[1, 2, 3]" }],
              o: ["output", { value: '{{big.output | replace("a", "c") | replace("b", "d") | length}}' }],
            },
            ["t>big", "big>L", "L.body>o"],
          ),
        ],
        LONG,
      ),
  },
  {
    name: "5 300 credentials and a long output",
    async prepare(install) {
      const { api } = install;
      const names = Array.from({ length: 300 }, (_, index) => `C${index}`);
      for (const [index, name] of names.entries())
        await api.post("/credentials", { name, value: `ab ab ab ab ab ab ${index} secret value` }, { status: 201 });
      const read = names.map((name) => `{{credentials.${name}}}`).join(" ");
      const graph = graphOf({ t: ["trigger"], c: ["output", { value: read }], big: LONG_TEXT }, ["t>c", "t>big"]);
      return runsOf(install, [graph], LONG);
    },
  },
  {
    name: "19 15 JSON fields of 660 kB",
    prepare: (install) => {
      const fields = Array.from({ length: 15 }, (_, index) => ({ name: `f${index}`, type: "json", value: "{{trigger.output}}" }));
      const graph = graphOf({ t: ["trigger"], s: ["set", { fields }] }, ["t>s"]);
      return runsOf(install, [graph], JSON.stringify(Array.from({ length: 52_000 }, (_, index) => `item ${index}`)), "[1]");
    },
  },
  {
    name: "20 synchronous responses of 7 MB",
    async prepare({ api, url }) {
      const graph = graphOf(
        {
          t: ["trigger", { kind: "http", allowed_methods: ["POST"], response_mode: "sync" }],
          o: ["output", { value: "{{trigger.output.body}}".repeat(7) }],
        },
        ["t>o"],
      );
      const workflow = await create(api, graph);
      const answers: string[] = [];
      const call = async (text: string, headers: Record<string, string> = {}) => {
        const answer = await post(`${url}/api/v1/http/${workflow}`, text, {
          authorization: `Bearer ${api.key}`,
          "content-type": "text/plain",
          ...headers,
        });
        answers.push(`${answer.status}, ${((await answer.text()).length / 1024).toFixed(0)} KiB`);
      };
      return {
        warmUp: () => call("small"),
        async attack() {
          await call(LONG);
          await call(LONG, { "idempotency-key": "large" });
        },
        result: () => `answers ${answers.join("; ")}`,
      };
    },
  },
];
