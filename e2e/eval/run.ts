import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import { type Asker, type Evaluation, evaluate } from "#e2e/eval/evaluate.ts";
import { evalRequests } from "#e2e/eval/requests.ts";
import { startModelServer } from "#e2e/fakes/model-server.ts";
import { newPerson } from "#e2e/fixtures.ts";
import { startTreadle } from "#e2e/server.ts";
import { Agent } from "#server/features/agents/schema.ts";
import { LlmKey } from "#server/features/llm-keys/schema.ts";

// `npm run eval:assistant`: asks the assistant 30 things on a Treadle of its own, and checks by rules what came of them.
//
//   npm run eval:assistant                                                          a stand-in plays what a good model would do
//   EVAL_API_KEY=sk-… npm run eval:assistant -- --provider openai --model gpt-5     a real model
//   …  --base-url https://…/v1   --only repair (part of a kind or a name)

const { values } = parseArgs({
  options: {
    provider: { type: "string", default: "openai_compatible" },
    model: { type: "string" },
    "base-url": { type: "string" },
    only: { type: "string", default: "" },
  },
});
const { EVAL_API_KEY } = process.env;
if (EVAL_API_KEY && !values.model) {
  process.stderr.write("Say with --model which model the key is to call.\n");
  process.exit(2);
}

const standIn = EVAL_API_KEY ? undefined : await startModelServer();
const treadle = await startTreadle({
  env: { ALLOW_PRIVATE_NETWORK: "1", RATE_LIMIT_PER_MINUTE: "0", RATE_LIMIT_BURST: "0", RATE_LIMIT_WEB: "0", EXECUTIONS_PER_HOUR: "0" },
});

/** The columns side by side. */
const row = (...cells: string[]) => `${cells.map((cell, index) => cell.padEnd([40, 9, 7, 8, 10][index] ?? 0)).join("")}\n`;
const dollars = (cost: number | null) => (cost === null ? "unknown" : `$${cost.toFixed(4)}`);

try {
  process.env.SERVER_DATA_DIR = treadle.dataDir;
  const person = await newPerson(treadle.url);
  const { api, browser } = person;
  const base_url = standIn?.url ?? values["base-url"];
  const fields = { name: "Evaluation", provider: values.provider, api_key: EVAL_API_KEY ?? "stand-in-key", ...(base_url && { base_url }) };
  const { body: key } = await api.post("/llm-keys", fields, { schema: LlmKey, status: 201 });
  const model = values.model ?? "echo";
  const agent = { name: "Helper", llm_key_id: key.id, model, system_prompt: "Do what the message says, in few words." };
  const { body: helper } = await api.post("/agents", agent, { schema: Agent, status: 201 });
  const use = async (name: string) => {
    const response = await browser.put("/api/v1/bridge/settings", { data: { llm_key_id: key.id, model: name } });
    if (!response.ok()) throw new Error(`The assistant cannot be set up: ${await response.text()}`);
  };
  await use(model);
  const asker: Asker = {
    url: treadle.url,
    api,
    browser,
    ...(standIn && {
      async play(steps) {
        const id = randomUUID();
        standIn.script(id, steps);
        await use(`script-${id}`);
      },
    }),
  };

  const requests = evalRequests({ agent_id: helper.id }).filter(({ kind, name }) => `${kind} ${name}`.includes(values.only));
  const done: Evaluation[] = [];
  process.stdout.write(row("request", "kind", "level", "s", "cost", "result"));
  for (const request of requests) {
    const evaluation = await evaluate(request, asker);
    const { faults, cost, seconds } = evaluation;
    done.push(evaluation);
    const result = faults.length ? faults.map(({ rule, fault }) => `${rule}: ${fault}`).join("; ") : "good";
    process.stdout.write(row(request.name, request.kind, String(request.level), seconds.toFixed(1), dollars(cost), result));
  }
  const good = done.filter(({ faults }) => faults.length === 0).length;
  const known = done.flatMap(({ cost }) => (cost === null ? [] : [cost]));
  const sum = known.length ? dollars(known.reduce((a, b) => a + b, 0)) : "unknown";
  process.stdout.write(`${good} of ${done.length} are good. Model: ${standIn ? "a stand-in" : model}. Cost: ${sum}.\n`);
  process.exitCode = good === done.length ? 0 : 1;
} finally {
  await treadle.stop();
  await standIn?.stop();
}
