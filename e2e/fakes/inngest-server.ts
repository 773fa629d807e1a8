import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { listen } from "#e2e/fakes/listen.ts";

// Stands where an Inngest server would, as far as a test needs one: it notes what it is sent and carries nothing by itself.
// Told to, it registers an app and carries a run of one of its functions, with signed requests, step by step.

export interface ReceivedEvent {
  id: string;
  name: string;
  data: Record<string, unknown>;
}

export interface Registration {
  url: string;
  functions: { id: string; triggers: { event?: string; cron?: string }[] }[];
}

/** A run of a function: what starts it, and what its steps have come to. */
export interface FunctionRun {
  fnId: string;
  event: ReceivedEvent;
  steps: Map<string, unknown>;
}

/** What a run waits for. */
interface Wait {
  /** Id of its step, under which the event is to be put. */
  id: string;
  event: string;
  expression: string;
}

export interface InngestServer {
  url: string;
  /** In the order in which they came. */
  events: ReceivedEvent[];
  registrations: Registration[];
  /** All that it was sent, addresses and bodies, and all that it was answered. */
  texts: string[];
  /** Requests that it has no answer for. */
  unknown: string[];
  /** Asks an app at its address to register; gives the status of the answer. */
  register(address: string, options?: { isSigned: boolean }): Promise<number>;
  /**
   * Carries a run on until it waits for an event or has ended.
   * @returns what it waits for, undefined when it has ended, or the status of a refusal
   */
  carry(address: string, run: FunctionRun, options?: { isSigned: boolean }): Promise<Wait | number | undefined>;
  stop(): Promise<void>;
}

interface Operation {
  op: string;
  id: string;
  name?: string;
  data?: unknown;
  opts?: { if?: string };
}

/** How many requests one run may take: more are a circle. */
const MOST_CALLS = 20;

/** JSON with the keys of each object in order: that form is signed. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    part && typeof part === "object" && !Array.isArray(part) ? Object.fromEntries(Object.entries(part).sort()) : part,
  );

function bodyOf({ fnId, event, steps }: FunctionRun): string {
  const order = [...steps.keys()];
  const memo = Object.fromEntries([...steps].map(([id, data]) => [id, { type: "data", data: data ?? null }]));
  const stack = { stack: order, current: order.length };
  const ctx = { run_id: `run-of-${event.id}`, fn_id: fnId, attempt: 0, disable_immediate_execution: false, use_api: false, stack };
  return canonical({ version: -1, event, events: [event], steps: memo, ctx });
}

/** @param signingKey hexadecimal, the app's INNGEST_SIGNING_KEY */
export async function startInngestServer(signingKey: string): Promise<InngestServer> {
  const [events, registrations, texts, unknown]: [ReceivedEvent[], Registration[], string[], string[]] = [[], [], [], []];
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString();
    texts.push(`${request.url} ${text}`);
    const json = (value: unknown) => response.setHeader("content-type", "application/json").end(JSON.stringify(value));
    if (request.url?.startsWith("/e/")) {
      const sent = [JSON.parse(text)].flat() as ReceivedEvent[];
      events.push(...sent);
      return json({ ids: sent.map(({ id }) => id), status: 200 });
    }
    if (request.url?.startsWith("/fn/register")) {
      registrations.push(JSON.parse(text));
      return json({ ok: true, modified: true });
    }
    unknown.push(`${request.method} ${request.url}`);
    response.writeHead(404).end();
  });

  async function ask(address: string, method: string, body: string, isSigned: boolean): Promise<{ status: number; text: string }> {
    const time = Math.round(Date.now() / 1000);
    const hmac = createHmac("sha256", signingKey).update(body).update(String(time)).digest("hex");
    const headers = { "content-type": "application/json", ...(isSigned && { "x-inngest-signature": `t=${time}&s=${hmac}` }) };
    const answer = await fetch(address, { method, headers, body });
    const text = await answer.text();
    texts.push(text);
    return { status: answer.status, text };
  }
  const step = (address: string, run: FunctionRun, stepId: string, isSigned: boolean) =>
    ask(`${address}?fnId=${run.fnId}&stepId=${stepId}`, "POST", bodyOf(run), isSigned);

  async function carry(address: string, run: FunctionRun, { isSigned } = { isSigned: true }): Promise<Wait | number | undefined> {
    for (let calls = 0; calls < MOST_CALLS; calls++) {
      const { status, text } = await step(address, run, "step", isSigned);
      if (status === 200) return undefined;
      if (status !== 206) return status;
      let wait: Wait | undefined;
      for (const { op, id, name = "", data, opts } of JSON.parse(text) as Operation[]) {
        if (op === "RunComplete") return undefined;
        if (op === "StepRun") run.steps.set(id, data);
        else if (op === "WaitForEvent") wait = { id, event: name, expression: opts?.if ?? "" };
        else if (op === "StepPlanned")
          for (const beside of JSON.parse((await step(address, run, id, isSigned)).text) as Operation[]) run.steps.set(id, beside.data);
        else throw new Error(`This Inngest server does not know how to ${op}: ${text}`);
      }
      if (wait) return wait;
    }
    throw new Error(`A run of ${run.fnId} does not come to an end: ${[...run.steps.keys()]}`);
  }

  return {
    ...(await listen(server)),
    ...{ events, registrations, texts, unknown, carry },
    register: async (address, { isSigned } = { isSigned: true }) => (await ask(address, "PUT", "{}", isSigned)).status,
  };
}
