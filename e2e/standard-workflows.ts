import { graphOf } from "#e2e/api/graphs.ts";
import type { ApiClient } from "#e2e/api-client.ts";
import { Agent } from "#server/features/agents/schema.ts";
import { LlmKey } from "#server/features/llm-keys/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import type { Graph } from "#server/workflow/schema.ts";

// The standard set of workflows: one of each kind of thing that the engine does. Crash runs, the runs with several workers and
// the smoke test against an Inngest server all play it. A run is told apart by its mark, which every model call's message bears.

/** One call to the model stand-in, by an agent or over HTTP, that a run makes when nothing is interrupted. */
export interface ExpectedCall {
  node_id: string;
  /** Null outside of loops, as the logs have it. */
  iteration: string | null;
  /** The whole last user message. */
  message: string;
}

export interface StandardWorkflow {
  name: string;
  graph: Pick<Graph, "nodes" | "edges">;
  input(mark: string): string;
  output(mark: string): string;
  calls(mark: string): ExpectedCall[];
  /** True when the run waits for an approval, to be given with the comment `COMMENT`. */
  hasReview?: boolean;
  /** True when it waits for something else: it is taken up more than once. */
  isWoken?: boolean;
  /** True when it calls the service that carries it. */
  callsUs?: boolean;
  /** What it starts, with the input of each run. */
  children?: { workflow: SavedWorkflow; input(mark: string): string[] };
}

/** What is written with each approval. */
export const COMMENT = "well done";
/** Five pieces, so that an answer of a model `slow-<ms>-5` takes five times as many milliseconds. */
const WORDS = "word1 word2 word3 word4 word5";
const ITEMS = [0, 1, 2, 3];
const NUMBERS = Array.from({ length: 40 }, (_, index) => index);
const isEven = (text: string) => /[02468]$/.test(text);
const outside = (calls: Record<string, string>): ExpectedCall[] =>
  Object.entries(calls).map(([node_id, message]) => ({ node_id, iteration: null, message }));

interface AgentIds {
  /** Answers at once with what it was told. */
  echo: string;
  /** Answers with `WORDS`, slowly. */
  slow: string;
}

const ask = (agent_id: string, input: string): [string, Record<string, unknown>] => ["agent", { agent_id, input }];

/** A workflow that others of the set run; its input is its mark. */
const helper = ({ slow }: AgentIds): StandardWorkflow => ({
  name: "helper",
  graph: graphOf({ t: ["trigger"], help: ask(slow, "help {{trigger.output}}"), o: ["output", { value: "{{help.output}}" }] }, [
    "t>help",
    "help>o",
  ]),
  input: (mark) => mark,
  output: () => WORDS,
  calls: (mark) => outside({ help: `help ${mark}` }),
});

/** What workflows of the set need besides agents. */
interface Surroundings {
  /** Base of the stand-in, ending in /v1. */
  modelUrl: string;
  slowModel: string;
  helper: SavedWorkflow;
}

/** Nodes that reach out, wait and compose. */
function composedWorkflows({ modelUrl, slowModel, helper }: Surroundings): StandardWorkflow[] {
  const post = (message: string): [string, Record<string, unknown>] => [
    "http",
    {
      method: "POST",
      url: `${modelUrl}/chat/completions`,
      headers: [{ name: "Authorization", value: "Bearer stand-in-key" }],
      body_type: "json",
      body: `{"model": "${slowModel}", "messages": [{"role": "user", "content": "${message}"}]}`,
    },
  ];
  const said = (label: string) => `{{${label}.output.choices[0].message.content}}`;
  return [
    {
      name: "http and code",
      graph: graphOf(
        {
          t: ["trigger"],
          kept: ["set", { fields: [{ name: "mark", value: "{{trigger.output}}", type: "text" }] }],
          call: post("call {{kept.output.mark}}"),
          count: ["code", { inputs: [{ name: "answer", value: said("call") }], code: "len(answer.split())", timeout: 10 }],
          which: [
            "switch",
            {
              cases: [
                { id: "five", label: "Five", condition: "int(output) == 5" },
                { id: "more", label: "More", condition: "int(output) > 5" },
              ],
            },
          ],
          o: ["output", { value: "{{kept.output.mark | upper}}: {{count.output}} {{which.output}} {{call.status}}" }],
        },
        ["t>kept", "kept>call", "call>count", "count>which", "which.case:five>o"],
      ),
      input: (mark) => mark,
      output: (mark) => `${mark.toUpperCase()}: 5 Five 200`,
      calls: (mark) => outside({ call: `call ${mark}` }),
    },
    {
      name: "waits",
      graph: graphOf(
        {
          t: ["trigger"],
          Moment: ["wait", { mode: "for", seconds: 1 }],
          Called: ["wait", { mode: "callback", timeout_hours: 1 }],
          tell: [
            "http",
            {
              method: "POST",
              url: "{{Called.resume_url}}",
              body_type: "json",
              body: '{"told": "{{trigger.output}}"}',
              // Made again after a crash it comes too late.
              accept: "any",
            },
          ],
          o: ["output", { value: "{{Called.output.told}}" }],
        },
        ["t>Moment", "Moment.done>Called", "Moment.done>tell", "Called.done>o", "tell>o"],
      ),
      input: (mark) => mark,
      output: (mark) => mark,
      calls: () => [],
      isWoken: true,
      callsUs: true,
    },
    {
      name: "loop of workflows",
      graph: graphOf(
        {
          t: ["trigger"],
          Each: ["loop", { items_expression: "{{trigger.output}}", concurrency: 2 }],
          run: ["workflow", { workflow_id: helper.id, input: "{{Each.current_item}}" }],
          call: post("call {{Each.current_item}}"),
          item: ["output", { value: `{{run.output}} / ${said("call")}` }],
          all: ["output", { value: "{{Each.output}}" }],
        },
        ["t>Each", "Each.body>run", "Each.body>call", "run>item", "call>item", "Each.done>all"],
      ),
      input: (mark) => JSON.stringify([`${mark}-0`, `${mark}-1`]),
      output: () => {
        const items = Array<string>(2).fill(`${WORDS} / ${WORDS}`);
        return JSON.stringify({ item: items, all: items });
      },
      calls: (mark) => [0, 1].map((item) => ({ node_id: "call", iteration: `${item}`, message: `call ${mark}-${item}` })),
      isWoken: true,
      children: { workflow: helper, input: (mark) => [`${mark}-0`, `${mark}-1`] },
    },
  ];
}

/** @param agents ids of the agents to call */
function standardWorkflows({ echo, slow }: AgentIds): StandardWorkflow[] {
  return [
    {
      name: "chain",
      graph: graphOf(
        {
          t: ["trigger"],
          first: ask(slow, "first {{trigger.output}}"),
          second: ask(echo, "second {{trigger.output}} {{first.output}}"),
          third: ask(slow, "third {{trigger.output}}"),
          o: ["output", { value: "{{second.output}} / {{third.output}}" }],
        },
        ["t>first", "first>second", "second>third", "third>o"],
      ),
      input: (mark) => mark,
      output: (mark) => `Echo: second ${mark} ${WORDS} / ${WORDS}`,
      calls: (mark) => outside({ first: `first ${mark}`, second: `second ${mark} ${WORDS}`, third: `third ${mark}` }),
    },
    {
      name: "branch",
      graph: graphOf(
        {
          t: ["trigger"],
          draft: ask(echo, "draft {{trigger.output}}"),
          Even: ["branch", { condition: "re.search('[02468]$', trigger_output) is not None and output.startswith('Echo: draft')" }],
          hurry: ask(slow, "hurry {{trigger.output}}"),
          now: ["output", { value: "now {{hurry.output}}" }],
          later: ["output", { value: "later {{draft.output}}" }],
        },
        ["t>draft", "draft>Even", "Even.true>hurry", "hurry>now", "Even.false>later"],
      ),
      input: (mark) => mark,
      output: (mark) => (isEven(mark) ? `now ${WORDS}` : `later Echo: draft ${mark}`),
      calls: (mark) => outside({ draft: `draft ${mark}`, ...(isEven(mark) && { hurry: `hurry ${mark}` }) }),
    },
    {
      name: "loop of agents",
      graph: graphOf(
        {
          t: ["trigger"],
          Each: ["loop", { items_expression: "{{trigger.output}}", concurrency: 3 }],
          look: ask(slow, "look {{Each.current_item}}"),
          tell: ask(echo, "tell {{Each.current_item}} {{look.output}}"),
          all: ["output", { value: "{{Each.output}}" }],
        },
        ["t>Each", "Each.body>look", "look>tell", "Each.done>all"],
      ),
      input: (mark) => JSON.stringify(ITEMS.map((item) => `${mark}-${item}`)),
      output: (mark) => JSON.stringify(ITEMS.map((item) => `Echo: tell ${mark}-${item} ${WORDS}`)),
      calls: (mark) =>
        ITEMS.flatMap((item) => [
          { node_id: "look", iteration: `${item}`, message: `look ${mark}-${item}` },
          { node_id: "tell", iteration: `${item}`, message: `tell ${mark}-${item} ${WORDS}` },
        ]),
    },
    {
      name: "review",
      graph: graphOf(
        {
          t: ["trigger"],
          draft: ask(slow, "draft {{trigger.output}}"),
          Check: ["humanLoop", { title: "Good?", display_value: "{{draft.output}}" }],
          publish: ask(slow, "publish {{trigger.output}} {{Check.output}}"),
          o: ["output", { value: "{{Check.comment}}: {{publish.output}}" }],
        },
        ["t>draft", "draft>Check", "Check.approved>publish", "publish>o"],
      ),
      input: (mark) => mark,
      output: () => `${COMMENT}: ${WORDS}`,
      calls: (mark) => outside({ draft: `draft ${mark}`, publish: `publish ${mark} approved: ${COMMENT}` }),
      hasReview: true,
    },
    {
      name: "pure loop",
      graph: graphOf(
        {
          t: ["trigger"],
          Each: ["loop", { items_expression: JSON.stringify(NUMBERS), concurrency: 5 }],
          Even: ["branch", { condition: "int(output) % 2 == 0" }],
          even: ["output", { value: "even {{Each.current_item}}" }],
          odd: ["output", { value: "odd {{Each.current_item}}" }],
          all: ["output", { value: "{{trigger.output}} {{Each.output}}" }],
        },
        ["t>Each", "Each.body>Even", "Even.true>even", "Even.false>odd", "Each.done>all"],
      ),
      input: (mark) => mark,
      output: (mark) => {
        const all = NUMBERS.map((number) => `${number % 2 ? "odd" : "even"} ${number}`);
        const [even, odd] = ["even", "odd"].map((kind) => all.filter((text) => text.startsWith(kind)));
        return JSON.stringify({ even, odd, all: `${mark} ${JSON.stringify(all)}` });
      },
      calls: () => [],
    },
    {
      name: "parallel branches",
      graph: graphOf(
        {
          t: ["trigger"],
          left: ask(slow, "left {{trigger.output}}"),
          right: ask(echo, "right {{trigger.output}}"),
          further: ask(slow, "further {{right.output}}"),
          o: ["output", { value: "{{left.output}} + {{right.output}} + {{further.output}}" }],
        },
        ["t>left", "t>right", "right>further", "left>o", "further>o"],
      ),
      input: (mark) => mark,
      output: (mark) => `${WORDS} + Echo: right ${mark} + ${WORDS}`,
      calls: (mark) => outside({ left: `left ${mark}`, right: `right ${mark}`, further: `further Echo: right ${mark}` }),
    },
  ];
}

export type SavedWorkflow = StandardWorkflow & { id: string };

/**
 * Saves the standard set in the project of `api`, with an LLM key and agents that lead to the model stand-in. Nodes of it call that
 * and the service itself, so the install needs ALLOW_PRIVATE_NETWORK where these are on its own network.
 * @param modelUrl of the stand-in, ending in /v1
 * @param pieceMs how long the slow agent takes for each of its five words
 * @returns the workflows, and how to remove everything again
 */
export async function saveStandardWorkflows(
  api: ApiClient,
  modelUrl: string,
  { pieceMs, suffix = "" }: { pieceMs: number; suffix?: string },
): Promise<{ workflows: SavedWorkflow[]; remove(): Promise<void> }> {
  const fields = { name: `Stand-in${suffix}`, provider: "openai_compatible", api_key: "stand-in-key", base_url: modelUrl };
  const { body: key } = await api.post("/llm-keys", fields, { schema: LlmKey, status: 201 });
  const agent = async (name: string, model: string) =>
    (await api.post("/agents", { name: name + suffix, model, llm_key_id: key.id }, { schema: Agent, status: 201 })).body.id;
  const slowModel = `slow-${pieceMs}-5`;
  const agents = { echo: await agent("Echo", "echo"), slow: await agent("Slow", slowModel) };
  const save = async (workflow: StandardWorkflow): Promise<SavedWorkflow> => {
    const body = { name: workflow.name + suffix, ...workflow.graph };
    const { body: saved } = await api.post("/workflows", body, { schema: Workflow, status: 201 });
    return { ...workflow, id: saved.id };
  };
  const child = await save(helper(agents));
  const workflows: SavedWorkflow[] = [];
  for (const workflow of [...standardWorkflows(agents), ...composedWorkflows({ modelUrl, slowModel, helper: child })])
    workflows.push(await save(workflow));
  const paths = [...[...workflows, child].map(({ id }) => `/workflows/${id}`), ...Object.values(agents).map((id) => `/agents/${id}`)];
  return {
    workflows,
    async remove() {
      for (const path of [...paths, `/llm-keys/${key.id}`]) await api.del(path, { status: 204 });
    },
  };
}
