import { setTimeout as pause } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { components, paths } from "./treadle.d.ts";

const { TREADLE_URL = "", TREADLE_KEY = "", TREADLE_PROJECT } = process.env;
const headers = { Authorization: `Bearer ${TREADLE_KEY}`, ...(TREADLE_PROJECT && { "X-Project-Slug": TREADLE_PROJECT }) };

const MAX_WAIT_SECONDS = 60;

export type ExecutionEvent = components["schemas"]["ExecutionEvent"];

/** An answer that is no success. `detail` says what to do next. */
export class TreadleError extends Error {
  readonly body: components["schemas"]["Error"];
  constructor(body: components["schemas"]["Error"]) {
    super(body.detail);
    this.name = "TreadleError";
    this.body = body;
  }
}

/** Repeats a request after a 429, up to five times. Returns a 429 that asks for more than 60 seconds, such as that of the hourly limit. */
async function patientFetch(request: Request): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(request.clone());
    const seconds = Number(response.headers.get("Retry-After") ?? "1");
    if (response.status !== 429 || attempt > 5 || !(seconds <= MAX_WAIT_SECONDS)) return response;
    await pause(seconds * 1000);
  }
}

/** Every operation of the API, with types for paths, parameters, bodies and answers. */
export const treadle = createClient<paths>({ baseUrl: TREADLE_URL, headers, fetch: patientFetch });

/** The data of an answer; throws TreadleError when it is no success. */
export function success<Data>(answer: { data?: Data; error?: components["schemas"]["Error"] }): Data {
  if (answer.error) throw new TreadleError(answer.error);
  return answer.data as Data;
}

/** The events of an execution until it ends, over broken lines too. */
export async function* follow(executionId: string): AsyncGenerator<ExecutionEvent> {
  for (let lastId = "0"; ; ) {
    const url = `${TREADLE_URL}/executions/${executionId}/stream`;
    const request = new Request(url, { headers: { ...headers, "Last-Event-ID": lastId } });
    try {
      const response = await patientFetch(request);
      if (!response.ok || !response.body) throw new TreadleError(await response.json());
      let text = "";
      for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
        const blocks = (text + chunk).split("\n\n");
        text = blocks.pop() ?? "";
        for (const block of blocks) {
          const data = /^data: (.*)$/m.exec(block)?.[1];
          if (data === undefined) continue; // a comment that keeps the line open
          lastId = /^id: (.*)$/m.exec(block)?.[1] ?? lastId;
          const event: ExecutionEvent = JSON.parse(data);
          yield event;
          if (event.type === "execution_complete" || event.type === "execution_failed") return;
        }
      }
    } catch (error) {
      if (error instanceof TreadleError) throw error;
      await pause(1000); // the line broke: go on after the last event
    }
  }
}
