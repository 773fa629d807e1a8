import { randomUUID } from "node:crypto";
import { type Asker, evaluate } from "#e2e/eval/evaluate.ts";
import { evalRequests } from "#e2e/eval/requests.ts";
import { expect, test } from "#e2e/fixtures.ts";
import type { Graph } from "#server/workflow/schema.ts";

// That `npm run eval:assistant` tells good from bad: of each kind the hardest request, done well and done badly.

test("the evaluation of the assistant finds good work good, and says what is wrong with bad work", async ({
  agent,
  api,
  baseURL: url,
  llmKey,
  modelServer,
  person: { browser, project },
}) => {
  const { id: agent_id } = await agent({ model: "echo" });
  const { id: llm_key_id } = await llmKey();
  const asker: Asker = {
    url,
    api: { ...api, projectId: project.id },
    browser,
    async play(steps) {
      const id = randomUUID();
      await modelServer.script(id, steps);
      const response = await browser.put("/api/v1/bridge/settings", { data: { llm_key_id, model: `script-${id}` } });
      expect(response.status()).toBe(200);
    },
  };
  const requests = evalRequests({ agent_id });
  expect(new Set(requests.map(({ name }) => name)).size).toBe(30);
  const hard = (kind: string) => {
    const found = requests.findLast((one) => one.kind === kind && one.level === 3);
    if (!found) throw new Error(`There is no hard request to ${kind}.`);
    return found;
  };
  for (const kind of ["build", "change", "explain", "repair"]) expect((await evaluate(hard(kind), asker)).faults).toEqual([]);

  const faultsOf = async (kind: string, work: { after?: Graph | undefined }) => {
    const { after: _, looks: __, ...request } = hard(kind);
    const { faults } = await evaluate({ ...request, says: "Sure.", ...(work.after && { after: work.after }) }, asker);
    return faults.map(({ rule }) => rule);
  };
  expect(await faultsOf("build", {})).toEqual(["data reaches the output", "has 1 loopNode", "has 2 agentNode"]);
  expect(await faultsOf("change", {})).toEqual(["has 2 agentNode", "failures go on"]);
  expect(await faultsOf("explain", { after: hard("change").before })).toEqual(["changes nothing", "uses get_run_log", "says write"]);
  expect(await faultsOf("repair", {})).toEqual(["runnable", "uses get_run_log"]);
});
