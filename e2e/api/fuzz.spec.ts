import { createHmac } from "node:crypto";
import { graphOf } from "#e2e/api/graphs.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { faultsOfAnswer } from "#server/testing/api/envelope.ts";
import { hostileValues } from "#server/testing/api/hostile.ts";
import { mutationsOf } from "#server/testing/api/mutations.ts";
import { readOperations } from "#server/testing/api/operations.ts";
import type { Sample } from "#server/testing/api/samples.ts";
import { send, told } from "#server/testing/api/send.ts";

// Generated values over a real connection, for one operation of each way that leads from the port to what answers; what they do
// to every other operation is tried where it is answered (server/http/fuzz-1.int.test.ts).

const amount = { ofField: 3, ofNestedField: 1, nestedFields: 5, ofParameter: 6, ofDoor: 30 };

test("no value breaks a way in", async ({ baseURL, person, agent, workflow, executed, newProject }) => {
  const door = { url: baseURL, fetch };
  const { api, project } = person;
  const { id: agent_id } = await agent({ model: "echo" });
  const started = (kind: string) => workflow(graphOf({ t: ["trigger", { kind, allowed_methods: ["POST"] }], o: ["output"] }, ["t>o"]));
  const [manual, http, webhook] = [await started("manual"), await started("http"), await started("webhook")];
  const { id: execution_id } = await executed(manual);
  const { id: rag_id } = (await api.post("/rags", { name: "Source", type: "documents" }, { status: 201 })).body;
  const { webhook_secret: secret } = (await api.post(`/webhooks/setup/${webhook.id}`, {}, { status: 200 })).body;
  const sign = (body: string) => ({ "x-service-signature": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}` });
  const samples: Record<string, Sample> = {
    "GET /agents/{agent_id}": { path: { agent_id } },
    "PUT /agents/{agent_id}": { path: { agent_id }, body: { name: "Another", temperature: 0.5, tools: ["web_search"] } },
    "DELETE /agents/{agent_id}": { path: { agent_id: project.id } },
    "GET /executions": { query: { page: "1", workflow_id: manual.id } },
    "POST /workflows/{workflow_id}/execute": { path: { workflow_id: manual.id }, body: { input: "Go" } },
    "POST /http/{workflow_id}": { path: { workflow_id: http.id }, body: { order: 7 } },
    "POST /webhooks/{workflow_id}": { path: { workflow_id: webhook.id }, body: { order: 7 }, sign },
    "POST /agents/{agent_id}/chat": { path: { agent_id }, body: { message: "Hello", stream: false } },
    "GET /executions/{execution_id}/stream": { path: { execution_id } },
    "POST /rags/{rag_id}/documents": { path: { rag_id }, body: { title: "Rules", text: "Quiet from ten." } },
  };
  const values = hostileValues([(await newProject()).project.id]);
  const headers = { authorization: `Bearer ${api.key}`, "x-project-id": project.id };
  const operations = (await readOperations(door)).filter(({ name }) => name in samples);
  expect(operations).toHaveLength(Object.keys(samples).length);
  const faults: string[] = [];
  for (const operation of operations) {
    const sample = samples[operation.name] ?? {};
    for (const { place, apply } of mutationsOf(operation, sample, { amount, seed: 20261121, values })) {
      const wire = apply(sample);
      const reply = await send(door, wire, { ...headers, ...wire.headers });
      faults.push(...faultsOfAnswer(operation, place, reply).map((fault) => `${fault} (${place}): ${told(wire, reply)}`));
    }
  }
  expect(faults).toEqual([]);
});
