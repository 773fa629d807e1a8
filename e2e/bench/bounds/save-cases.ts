import { graphOf } from "#e2e/api/graphs.ts";
import { type Case, create, largeGraph, outputOf, post, savesOf } from "#e2e/bench/bounds/attack.ts";

export const saveCases: Case[] = [
  {
    name: "7 save with 7,921 back edges",
    prepare: async (install) =>
      savesOf(install, () => {
        const ids = Array.from({ length: 1900 }, (_, index) => `n${index}`);
        const nodes = Object.fromEntries<[string, Record<string, unknown>?]>([
          ["t", ["trigger"]],
          ...ids.map((id) => [id, ["output"]] as [string, [string]]),
        ]);
        const chain = ids.map((id, index) => `${index === 0 ? "t" : ids[index - 1]}>${id}`);
        const back = Array.from({ length: 7921 }, (_, index) => `n${1899 - (index % 89)}>n${Math.floor(index / 89)}`);
        return [{ name: "Back edges", ...graphOf(nodes, [...chain, ...back]) }];
      }),
  },
  {
    name: "7 save with 300,000 references",
    prepare: async (install) =>
      savesOf(install, () => {
        const fields = Array.from(
          { length: 30 },
          (_, index) => [`o${index}`, ["output", { value: "{{a.b}} ".repeat(10_000) }]] as [string, [string, object]],
        );
        return [
          {
            name: "References",
            ...graphOf(
              Object.fromEntries([["t", ["trigger"]], ...fields]) as never,
              fields.map(([id]) => `t>${id}`),
            ),
          },
        ]; // cast: literal rows
      }),
  },
  {
    name: "8 export of a repetitive field",
    async prepare({ api }) {
      const bad = await create(api, outputOf("-ey".repeat(26_000)));
      const small = await create(api, outputOf("small"));
      let status = 0;
      return {
        warmUp: async () => void (await api.get(`/workflows/${small}/export`)),
        async attack() {
          status = (await api.get(`/workflows/${bad}/export`)).status;
          await api.post("/workflows/import/check", {
            text: JSON.stringify({ nodes: [{ name: "a", parameters: { x: "-ey".repeat(26_000) } }], connections: {} }),
          });
        },
        result: () => `answer ${status}`,
      };
    },
  },
  {
    name: "9 sign-up with 390,000 unknown keys",
    env: { ALLOW_SIGNUP: "1" },
    async prepare({ url }) {
      let answer = "";
      const send = async (count: number) => {
        const body = `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join(",")}}`;
        const response = await post(`${url}/api/v1/auth/sign-up`, body.slice(0, 4 * 1024 * 1024 - 1));
        return `${response.status}, ${((await response.text()).length / 1024).toFixed(0)} KiB`;
      };
      return {
        warmUp: async () => void (await send(3)),
        async attack() {
          answer = await send(330_000);
        },
        result: () => `answer ${answer}`,
      };
    },
  },
  {
    name: "13 20 saves of 3.6 MB with an Idempotency-Key",
    async prepare({ api, url }) {
      const body = JSON.stringify({ name: "Large", ...outputOf("x".repeat(90_000)) });
      const statuses: number[] = [];
      const send = async (text: string, key: string) => {
        const answer = await post(`${url}/api/v1/workflows`, text, { authorization: `Bearer ${api.key}`, "idempotency-key": key });
        await answer.text();
        return answer.status;
      };
      return {
        warmUp: async () => void (await send(body, "warm")),
        async attack() {
          const text = JSON.stringify({ name: "Large", ...largeGraph() });
          for (let index = 0; index < 20; index++) statuses.push(await send(text.replace("Large", `Large ${index}`), `key-${index}`));
        },
        result: () => `answers ${[...new Set(statuses)].join(", ")}`,
      };
    },
  },
  {
    name: "14 node of 300,000 unknown fields",
    prepare: async (install) =>
      savesOf(install, () => {
        const data = Object.fromEntries(Array.from({ length: 300_000 }, (_, index) => [`f${index}`, 1]));
        return [{ name: "Fields", ...graphOf({ t: ["trigger"], o: ["output", data] }, ["t>o"]) }];
      }),
  },
  {
    name: "18 save of 1.3 million empty objects",
    prepare: async (install) => savesOf(install, () => [{ name: "Empty", edges: Array.from({ length: 1_300_000 }, () => ({})) }]),
  },
];
