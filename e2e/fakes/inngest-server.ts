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

/** End of a wait of a run: an event, or a time if `until` is set. */
interface Wait {
  /** Id of its step, under which the event is to be put. */
  id: string;
  event: string;
  expression: string;
  /** ISO 8601. */
  until?: string;
}

/** How the server signs what it sends; left out, as it should. */
export interface Signing {
  isSigned?: boolean;
  /** Another key than the app's. */
  key?: string;
  /** How far its clock is off, in seconds. */
  clockOff?: number;
}

/** How a run of a function ended, as the app answered. */
export interface FunctionEnd {
  status: number;
  /** False when the server is told not to try again. */
  isRetried: boolean;
  body: unknown;
}

export interface InngestServer {
  url: string;
  port: number;
  /** `hanging`: takes connections and answers nothing, as a process that is stopped; `other key`: knows another event key. */
  be(manner: "well" | "hanging" | "other key"): void;
  /** In the order in which runs of functions ended, by return or by failure. */
  ends: FunctionEnd[];
  /** In the order in which they came. */
  events: ReceivedEvent[];
  registrations: Registration[];
  /** All that it was sent, addresses and bodies, and all that it was answered. */
  texts: string[];
  /** Requests that it has no answer for. */
  unknown: string[];
  /** Asks an app at its address to register; gives the status of the answer. */
  register(address: string, signing?: Signing): Promise<number>;
  /**
   * Carries a run on until it waits for an event or has ended.
   * @returns what it waits for, undefined when it has ended, or the status of a refusal or failure
   */
  carry(address: string, run: FunctionRun, signing?: Signing): Promise<Wait | number | undefined>;
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
export async function startInngestServer(signingKey: string, port = 0): Promise<InngestServer> {
  const [events, registrations, texts, unknown]: [ReceivedEvent[], Registration[], string[], string[]] = [[], [], [], []];
  const ends: FunctionEnd[] = [];
  let manner: Parameters<InngestServer["be"]>[0] = "well";
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString();
    texts.push(`${request.url} ${text}`);
    response.setHeader("x-inngest-server-kind", "self-hosted");
    const json = (value: unknown) => response.setHeader("content-type", "application/json").end(JSON.stringify(value));
    if (manner === "hanging") return;
    if (request.url?.startsWith("/e/") && manner === "other key") {
      response.statusCode = 401;
      return json({ error: "Event key not found", status: 401 });
    }
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

  async function ask(address: string, method: string, body: string, { isSigned = true, key = signingKey, clockOff = 0 }: Signing = {}) {
    const time = Math.round(Date.now() / 1000) + clockOff;
    const hmac = createHmac("sha256", key).update(body).update(String(time)).digest("hex");
    const headers = { "content-type": "application/json", ...(isSigned && { "x-inngest-signature": `t=${time}&s=${hmac}` }) };
    const answer = await fetch(address, { method, headers, body });
    const text = await answer.text();
    texts.push(text);
    return { status: answer.status, text, isRetried: answer.headers.get("x-inngest-no-retry") !== "true" };
  }
  const step = (address: string, run: FunctionRun, stepId: string, signing?: Signing) =>
    ask(`${address}?fnId=${run.fnId}&stepId=${stepId}`, "POST", bodyOf(run), signing);

  async function carry(address: string, run: FunctionRun, signing?: Signing): Promise<Wait | number | undefined> {
    for (let calls = 0; calls < MOST_CALLS; calls++) {
      const { status, text, isRetried } = await step(address, run, "step", signing);
      if (status === 200 || status === 400 || status === 500) ends.push({ status, isRetried, body: JSON.parse(text) });
      if (status === 200) return undefined;
      if (status !== 206) return status;
      let wait: Wait | undefined;
      for (const { op, id, name = "", data, opts } of JSON.parse(text) as Operation[]) {
        if (op === "RunComplete") {
          ends.push({ status: 200, isRetried: false, body: data });
          return undefined;
        }
        if (op === "StepRun") run.steps.set(id, data);
        else if (op === "Sleep") wait = { id, event: "", expression: "", until: name };
        else if (op === "WaitForEvent") wait = { id, event: name, expression: opts?.if ?? "" };
        else if (op === "StepPlanned")
          for (const beside of JSON.parse((await step(address, run, id, signing)).text) as Operation[]) run.steps.set(id, beside.data);
        else throw new Error(`This Inngest server does not know how to ${op}: ${text}`);
      }
      if (wait) return wait;
    }
    throw new Error(`A run of ${run.fnId} does not come to an end: ${[...run.steps.keys()]}`);
  }

  return {
    ...(await listen(server, port)),
    ...{ events, registrations, texts, unknown, carry, ends },
    be: (next) => {
      manner = next;
    },
    register: async (address, signing) => (await ask(address, "PUT", "{}", signing)).status,
  };
}
