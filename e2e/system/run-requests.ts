import { createHmac } from "node:crypto";
import type { ApiClient } from "#e2e/api-client.ts";
import type { SavedWorkflow } from "#e2e/standard-workflows.ts";
import { WebhookSetup } from "#server/features/webhooks/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import type { Execution } from "#server/runs/schema.ts";

// The ways in which runs of the standard set are asked for under load.

/** A request for one run. */
export interface RunRequest {
  workflow: SavedWorkflow;
  mark: string;
  /** What its run says of how it was started. */
  trigger: Execution["trigger"];
  /** The execution that it runs again. */
  rerun_of: string | null;
  /** It says which one it is, so there is one run however often it is sent. */
  isNamed: boolean;
  /** @throws TypeError when nobody answers */
  send(): Promise<{ status: number; body: { execution_id: string } }>;
}

/** A sender of signed calls: to the same workflow, with a webhook that reads one field of what it gets in place of its trigger. */
async function webhookSender(api: ApiClient, url: string, workflow: SavedWorkflow): Promise<(mark: string) => RunRequest> {
  const hook = { kind: "webhook", payload_path: "$.told.input" };
  const nodes = workflow.graph.nodes.map((node) => (node.type === "triggerNode" ? { ...node, data: { ...node.data, ...hook } } : node));
  const graph = { name: `${workflow.name} by webhook`, nodes, edges: workflow.graph.edges };
  const { body: saved } = await api.post("/workflows", graph, { schema: Workflow, status: 201 });
  const { body: setup } = await api.post(`/webhooks/setup/${saved.id}`, {}, { schema: WebhookSetup, status: 200 });
  let sent = 0;
  return (mark) => {
    const name = sent++ % 2 ? "x-github-delivery" : "idempotency-key";
    const body = JSON.stringify({ told: { input: workflow.input(mark) } });
    const signature = createHmac("sha256", setup.webhook_secret).update(body).digest("hex");
    const headers = { "content-type": "application/json", "x-service-signature": `sha256=${signature}`, [name]: mark };
    return {
      ...{ workflow: { ...workflow, id: saved.id }, mark, trigger: "webhook", rerun_of: null, isNamed: true },
      async send() {
        const answer = await fetch(`${url}/webhooks/${saved.id}`, { method: "POST", headers, body });
        return { status: answer.status, body: await answer.json() };
      },
    };
  };
}

/**
 * Of four requests one is a signed delivery, one asks for a run that has ended to be run again with another input, one asks for
 * a run under an Idempotency-Key, and one for a run without.
 * @param url of the API
 * @returns makes the next request, for any of the workflows
 */
export async function runRequests(
  api: ApiClient,
  { url, workflows, random }: { url: string; workflows: SavedWorkflow[]; random(): number },
): Promise<() => Promise<RunRequest>> {
  const oneOf = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const senders = new Map<SavedWorkflow, (mark: string) => RunRequest>();
  for (const workflow of workflows) senders.set(workflow, await webhookSender(api, url, workflow));

  const execute = (mark: string, workflow: SavedWorkflow, isNamed: boolean): RunRequest => ({
    ...{ workflow, mark, trigger: "manual", rerun_of: null, isNamed },
    send: () =>
      api.post(
        `/workflows/${workflow.id}/execute`,
        { input: workflow.input(mark) },
        { headers: isNamed ? { "idempotency-key": mark } : {} },
      ),
  });
  /** Of the workflow, or of another when none of its runs has ended yet. */
  const rerun = async (mark: string, wanted: SavedWorkflow): Promise<RunRequest | undefined> => {
    for (const workflow of [wanted, ...workflows]) {
      const { body } = await api.get(`/executions?status=completed&workflow_id=${workflow.id}&per_page=20`, { status: 200 });
      if (!body.items.length) continue;
      const { id } = oneOf<Execution>(body.items);
      return {
        ...{ workflow, mark, trigger: "rerun", rerun_of: id, isNamed: true },
        send: () => api.post(`/executions/${id}/rerun`, { input: workflow.input(mark) }, { headers: { "idempotency-key": mark } }),
      };
    }
    return undefined;
  };
  let made = 0;
  return async () => {
    const index = made++;
    const [mark, workflow] = [`run-${index}`, oneOf(workflows)];
    const sent = index % 4 === 1 ? senders.get(workflow)?.(mark) : index % 4 === 3 ? await rerun(mark, workflow) : undefined;
    return sent ?? execute(mark, workflow, index % 4 === 0);
  };
}
