import { graphOf } from "#e2e/api/graphs.ts";
import type { ApiClient } from "#e2e/api-client.ts";
import { until } from "#e2e/until.ts";

// An attack on the availability of one process through the public API, and what attacks are made of.

export interface Attack {
  attack(): Promise<void>;
  /** The same requests with little data, so that loading code is not measured. */
  warmUp?(): Promise<void>;
  /** Summary of the answers, for the table. */
  result?(): Promise<string> | string;
  /** Ends servers and connections of the case. */
  stop?(): Promise<void>;
}

export interface Install {
  url: string;
  api: ApiClient;
}

export interface Case {
  name: string;
  /** Settings of the install beside the common ones. */
  env?: Record<string, string>;
  prepare(install: Install): Promise<Attack>;
}

type Graph = ReturnType<typeof graphOf>;

const FINAL = ["completed", "failed", "rejected", "cancelled"];
/** Time after which a run that has not ended counts as stuck, in ms. */
const GIVE_UP_MS = 120_000;

export const post = (url: string, body: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });

export async function create(api: ApiClient, graph: Graph, name = `Case ${Math.random()}`): Promise<string> {
  const { status, body } = await api.post("/workflows", { name, ...graph });
  if (status !== 201) throw new Error(`The workflow was not created: ${status} ${JSON.stringify(body).slice(0, 300)}`);
  return body.id;
}

/** Starts a run and waits for its end. Reads summaries only, since outputs may be long. */
export async function run(api: ApiClient, workflow: string, input: string): Promise<string> {
  const started = await api.post(`/workflows/${workflow}/execute`, { input });
  if (started.status !== 202) throw new Error(`The run was not accepted: ${started.status}`);
  return waitForEnd(api, started.body.execution_id);
}

export const waitForEnd = (api: ApiClient, id: string): Promise<string> =>
  until(async () => {
    const lists = await Promise.all(FINAL.map((status) => api.get(`/executions?per_page=200&status=${status}`)));
    return lists.flatMap(({ body }) => body.items).find((item: { id: string }) => item.id === id)?.status as string | undefined;
  }, GIVE_UP_MS);

/** An attack of one run per graph. */
export async function runsOf({ api }: Install, graphs: Graph[], input: string, small = "{}"): Promise<Attack> {
  const workflows = await Promise.all(graphs.map((graph) => create(api, graph)));
  const ends: string[] = [];
  return {
    warmUp: async () => void (await run(api, workflows[0] ?? "", small)),
    async attack() {
      for (const workflow of workflows) ends.push(await run(api, workflow, input));
    },
    result: () => `runs ended ${ends.join(", ")}`,
  };
}

/** An attack of saves, each of which gets an answer of any status. */
export function savesOf({ url, api }: Install, bodies: () => object[], path = "/workflows"): Attack {
  const answers: string[] = [];
  const send = async (body: object) => {
    const answer = await post(`${url}/api/v1${path}`, JSON.stringify(body), { authorization: `Bearer ${api.key}` });
    return `${answer.status}, ${((await answer.text()).length / 1024).toFixed(0)} KiB`;
  };
  return {
    warmUp: async () => void (await send({ name: "Small", ...graphOf({ t: ["trigger"], o: ["output"] }, ["t>o"]) })),
    async attack() {
      for (const body of bodies()) answers.push(await send(body));
    },
    result: () => `answers ${answers.join("; ")}`,
  };
}

export const outputOf = (value: string): Graph => graphOf({ t: ["trigger"], o: ["output", { value }] }, ["t>o"]);
/** The longest input of a run. */
export const LONG = "ab ".repeat(333_333);
/** A node that repeats the input: 15 million characters of the longest one. */
export const LONG_TEXT: [string, Record<string, unknown>] = ["output", { value: "{{trigger.output}}".repeat(15) }];

/** A graph of 3.6 MB. */
export function largeGraph(): Graph {
  const notes = Array.from({ length: 73 }, (_, index) => [`n${index}`, ["note", { content: "y".repeat(49_500) }]] as const);
  return graphOf(Object.fromEntries([["t", ["trigger"]], ["o", ["output"]], ...notes]) as never, ["t>o"]); // cast: literal rows
}
