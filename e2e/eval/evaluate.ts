import type { APIRequestContext } from "@playwright/test";
import { readStream } from "#e2e/api/read-stream.ts";
import type { ApiClient } from "#e2e/api-client.ts";
import type { EvalRequest, ScriptedCall } from "#e2e/eval/requests.ts";
import type { Outcome } from "#e2e/eval/rules.ts";
import type { ScriptStep } from "#e2e/fakes/scripted-model.ts";
import { until } from "#e2e/until.ts";
import { SentMessage, ThreadEvent, ThreadSummary } from "#server/features/assistant/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { ExecuteResult, Execution } from "#server/runs/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";
import { diffGraphs } from "#server/workflow/diff.ts";
import type { Operation } from "#server/workflow/operations.ts";
import type { Graph } from "#server/workflow/schema.ts";

// One request to the assistant from the question to what came of it, over the web app's own interface.

/** Who asks: a person of a project whose assistant is ready. */
export interface Asker {
  url: string;
  api: ApiClient;
  /** The same person as a browser is signed in. */
  browser: APIRequestContext;
  /** Has a stand-in for the assistant's model play these steps; left out, a real one answers. */
  play?(steps: ScriptStep[]): Promise<void>;
}

export interface Evaluation {
  request: EvalRequest;
  /** Why it does not hold, by the name of the rule. */
  faults: { rule: string; fault: string }[];
  /** USD; null when the price is not known. */
  cost: number | null;
  seconds: number;
}

/** For one message, in milliseconds: a real model thinks. */
const MESSAGE_MS = 300_000;
/** Most questions that are answered before the assistant is left alone. */
const MOST_ANSWERS = 5;

/** What leads from one graph to the other, as the assistant says it. */
function operationsTo(before: Graph, after: Graph): Operation[] {
  const { nodes, edges } = diffGraphs(before, after);
  const end = ({ source, sourceHandle, target }: Graph["edges"][number]) => ({
    source,
    target,
    ...(sourceHandle && { source_handle: sourceHandle }),
  });
  const dataOf = (data: Record<string, unknown>, was: Record<string, unknown> = {}) => ({
    ...Object.fromEntries(Object.keys(was).flatMap((key) => (key in data ? [] : [[key, null]]))),
    ...data,
  });
  const removed = new Set(nodes.flatMap(({ id, kind }) => (kind === "removed" ? [id] : [])));
  return [
    ...edges.flatMap(({ kind, edge }): Operation[] =>
      kind === "removed" && !removed.has(edge.source) && !removed.has(edge.target) ? [{ op: "disconnect", ...end(edge) }] : [],
    ),
    ...nodes.flatMap(({ id, kind, node }): Operation[] => {
      if (kind === "removed") return [{ op: "remove_node", id }];
      if (kind === "added") return [{ op: "add_node", node: { id, type: node.type, data: node.data } }];
      const was = before.nodes.find((one) => one.id === id);
      return kind === "changed" ? [{ op: "update_node", id, data: dataOf(node.data, was?.data) }] : [];
    }),
    ...edges.flatMap(({ kind, edge }): Operation[] => (kind === "added" ? [{ op: "connect", ...end(edge) }] : [])),
  ];
}

const cookieOf = async (browser: APIRequestContext) =>
  (await browser.storageState()).cookies.map(({ name, value }) => `${name}=${value}`).join("; ");

/** Runs the workflow, once it can be run. */
async function runOf(api: ApiClient, workflow_id: string, input: string): Promise<Execution | { refused: string }> {
  const { status, body } = await api.post(`/workflows/${workflow_id}/execute`, input ? { input } : {});
  if (status !== 202) return { refused: body.detail };
  const { execution_id } = ExecuteResult.parse(body);
  return until(async () => {
    const { body: execution } = await api.get(`/executions/${execution_id}`, { schema: Execution });
    return isFinal(execution.status) || execution.status === "paused" ? execution : undefined;
  }, 120_000);
}

/** Asks, answers what the assistant wants to know, accepts all that it proposes, and runs what came of it. */
export async function evaluate(request: EvalRequest, { url, api, browser, play }: Asker): Promise<Evaluation> {
  const began = Date.now();
  const bridge = async (path: string, data: unknown): Promise<unknown> => {
    const response = await browser.post(`/api/v1/bridge${path}`, { data });
    if (!response.ok()) throw new Error(`POST ${path} answered ${response.status()}: ${await response.text()}`);
    return response.json();
  };
  const { body: workflow } = await api.post("/workflows", { name: request.name, ...request.before }, { schema: Workflow, status: 201 });
  const first = request.hasRun ? await runOf(api, workflow.id, request.input) : undefined;
  const execution_id = first && "id" in first ? first.id : undefined;

  const named = JSON.stringify(request.looks ?? [])
    .replaceAll("WORKFLOW", workflow.id)
    .replaceAll("RUN", execution_id ?? "");
  const calls: ScriptedCall[] = JSON.parse(named);
  if (request.after) {
    const operations = operationsTo(request.before, request.after);
    calls.push({ name: "propose_changes", args: { workflow_id: workflow.id, summary: request.says, operations } });
  }
  await play?.([...calls.map((call) => ({ calls: [call] })), { say: request.says }]);

  const thread = ThreadSummary.parse(await bridge("/threads", { workflow_id: workflow.id }));
  const context = { workflow_id: workflow.id, ...(execution_id && { execution_id }) };
  const { message_id } = SentMessage.parse(await bridge(`/threads/${thread.id}/messages`, { content: request.ask, context }));

  const cookie = await cookieOf(browser);
  const headers = { cookie, "x-project-id": api.projectId ?? "" };
  const ends = new Set(["message_done", "message_failed", "question", "confirmation"]);
  const events: ThreadEvent[] = [];
  const timer = AbortSignal.timeout(MESSAGE_MS);
  for (let after = "0", answers = 0; !timer.aborted; ) {
    const news = await readStream(`${url}/api/v1/bridge/threads/${thread.id}/stream`, { ...headers, "last-event-id": after }, ({ event }) =>
      ends.has(event),
    );
    const told = news.map(({ data }) => ThreadEvent.parse(data));
    events.push(...told);
    after = news.at(-1)?.id ?? after;
    const last = told.at(-1);
    if (last?.type === "question" && answers++ < MOST_ANSWERS)
      await bridge(`/questions/${last.id}`, { answer: last.options[0] ?? "Decide yourself." });
    else if (last?.type === "confirmation" && answers++ < MOST_ANSWERS) await bridge(`/confirmations/${last.id}`, { decision: "approved" });
    else break;
  }

  const mine = events.filter((event) => event.message_id === message_id);
  const proposals = mine.filter((event) => event.type === "proposal" && event.status === "open");
  let graph: Graph = request.before;
  for (const event of proposals) {
    if (event.type !== "proposal") continue;
    const response = await browser.post(`/api/v1/bridge/proposals/${event.id}/accept`, { data: {} });
    if (response.ok()) graph = (await response.json()).draft;
  }
  const { body: saved } = await api.put(`/workflows/${workflow.id}`, { nodes: graph.nodes, edges: graph.edges });
  const failure = mine.find((event) => event.type === "message_failed");
  const outcome: Outcome = {
    before: request.before,
    graph,
    problems: saved.problems ?? [{ node_id: null, field: null, message: saved.detail, severity: "error" }],
    run: await runOf(api, workflow.id, request.input),
    answer: mine.map((event) => (event.type === "text_delta" ? event.text : "")).join(""),
    proposals: proposals.length,
    tools: mine.flatMap((event) => (event.type === "tool_call" ? [event.name] : [])),
  };
  const faults = request.rules.flatMap(({ name, fault }) => {
    const found = fault(outcome);
    return found === undefined ? [] : [{ rule: name, fault: found }];
  });
  if (failure?.type === "message_failed") faults.unshift({ rule: "answers", fault: failure.error });
  const used = mine.findLast((event) => event.type === "usage");
  return { request, faults, cost: used?.type === "usage" ? used.cost : null, seconds: (Date.now() - began) / 1000 };
}
