import { type Case, create, outputOf, run } from "#e2e/bench/bounds/attack.ts";

export const canvasCases: Case[] = [
  {
    name: "3 nested lists on a shared dashboard",
    async prepare(install) {
      const { api, url } = install;
      const workflow = await create(api, outputOf("{{trigger.output}}"));
      await run(api, workflow, "# Title");
      const widget = {
        id: "m",
        title: "Text",
        type: "markdown",
        workflow_id: workflow,
        output_label: "o",
        layout: { x: 0, y: 0, w: 6, h: 4 },
      };
      const canvas = (await api.post("/canvases", { name: "Shared", widgets: [widget] }, { status: 201 })).body.id;
      const shared = (await api.post(`/canvases/${canvas}/share`, {}, { status: 201 })).body.url as string;
      const page = url + new URL(shared).pathname;
      const statuses: number[] = [];
      const look = async () => {
        const answer = await fetch(page);
        await answer.text();
        return answer.status;
      };
      return {
        async warmUp() {
          await look();
          await run(api, workflow, "1. ".repeat(2666));
        },
        async attack() {
          for (let index = 0; index < 3; index++) statuses.push(await look());
        },
        result: () => `answers ${statuses.join(", ")}`,
      };
    },
  },
  {
    name: "12 dashboard of 50 paths over 1.8 MB, eight viewers",
    async prepare({ api }) {
      const workflow = await create(api, outputOf("[{{trigger.output}}, {{trigger.output}}]"));
      const rows = Array.from({ length: 15_000 }, (_, index) => ({ month: `m${index}`, revenue: index, name: `row number ${index}` }));
      const layout = { x: 0, y: 0, w: 3, h: 2 };
      const widgets = Array.from({ length: 50 }, (_, index) => ({
        ...{ id: `w${index}`, title: "", type: "chart", workflow_id: workflow, output_label: "o", layout },
        options: { kind: "line", x: "$..month", y: `$..[?@.revenue > ${index}].revenue` },
      }));
      await run(api, workflow, "[]");
      const canvas = (await api.post("/canvases", { name: "Paths", widgets }, { status: 201 })).body.id;
      await api.get(`/canvases/${canvas}/data`);
      const statuses: number[] = [];
      return {
        warmUp: async () => void (await run(api, workflow, JSON.stringify(rows))),
        async attack() {
          statuses.push((await api.get(`/canvases/${canvas}/data`)).status);
          const viewers = Array.from({ length: 8 }, () => api.get(`/canvases/${canvas}/data`));
          for (const { status } of await Promise.all(viewers)) statuses.push(status);
        },
        result: () => `answers ${statuses.join(", ")}`,
      };
    },
  },
];
