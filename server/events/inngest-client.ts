import { Inngest, NonRetriableError } from "inngest";
import type { Logger } from "pino";
import type { EventRefusal } from "#server/events/schema.ts";
import { log } from "#server/platform/log.ts";
import { settings } from "#server/platform/settings.ts";

/** How long a server may take to answer that it has an event, in milliseconds. */
const SEND_MS = 2000;
/** Header of an Inngest server that names its kind, e.g. `self-hosted`. Source: github.com/inngest/inngest, pkg/headers. */
const SERVER_KIND = "x-inngest-server-kind";
/** What the SDK sends where a dev server wants no key. */
const NO_KEY = "NO_EVENT_KEY_SET";

/** Events were not taken, for this reason. */
export class NotTaken extends Error {
  readonly reason: EventRefusal;

  constructor(reason: EventRefusal, options?: ErrorOptions) {
    super(`The Inngest server has not taken an event: ${reason}.`, options);
    this.reason = reason;
  }
}

/**
 * Reads why an event endpoint refused. Another service may answer 401, or JSON with `error`, just as well. An Inngest server names
 * its kind in a header of every response; behind a proxy that drops it, its wording about event keys is the mark.
 */
function refusalOf({ status, headers }: Response, body: unknown): EventRefusal {
  const error = typeof body === "object" && body !== null && "error" in body ? String(body.error) : "";
  const isAboutKey = /\bevent keys?\b/i.test(error);
  if (!headers.has(SERVER_KIND) && !isAboutKey) return status >= 502 ? "error" : "address";
  return isAboutKey || [401, 403, 404].includes(status) ? "event_key" : "error";
}

/**
 * Sends events with one try of two seconds: the SDK's own tries go on for as long as a server that hangs is asked, and what
 * is not sent the sweeper sends.
 */
class ServerInngest extends Inngest {
  /** @throws NotTaken */
  override send: Inngest["send"] = async (events) => {
    const ts = Date.now();
    const body = JSON.stringify([events].flat().map(({ id, name, data }) => ({ id, name, data, ts })));
    const signal = AbortSignal.timeout(SEND_MS);
    const asked = { method: "POST", headers: { "content-type": "application/json" }, body, signal } as const;
    let answer: Response;
    let text: string;
    try {
      answer = await fetch(new URL(`e/${this.eventKey ?? NO_KEY}`, this.eventBaseUrl), asked);
      text = await answer.text();
    } catch (cause) {
      throw new NotTaken(signal.aborted ? "no_answer" : "no_server", { cause });
    }
    const said = parsed(text);
    if (answer.status === 200 && said && typeof said === "object" && "ids" in said && Array.isArray(said.ids)) return { ids: said.ids };
    throw new NotTaken(refusalOf(answer, said));
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Say = (about: object, message?: string) => void;

/** What the SDK logs, without runs that have failed: those are told of where they are shown, and no fault of ours. */
function functionLog(log: Logger): Record<"debug" | "info" | "warn" | "error", Say> & { child(bindings: object): unknown } {
  return {
    debug: log.debug.bind(log),
    info: log.info.bind(log),
    warn: log.warn.bind(log),
    error: (about, ...rest) => {
      if (!("err" in about && about.err instanceof NonRetriableError)) log.error(about, ...rest);
    },
    child: (bindings) => functionLog(log.child(bindings)),
  };
}

/** A client for the server that the settings name. */
function open() {
  const { INNGEST_BASE_URL, INNGEST_DEV, INNGEST_EVENT_KEY, INNGEST_SIGNING_KEY, INNGEST_SIGNING_KEY_FALLBACK } = settings();
  return new ServerInngest({
    id: "treadle",
    aiMetadata: false,
    logger: functionLog(log),
    // Every step of ours may be repeated, so the result of one may wait for the next, or for the end of the function.
    checkpointing: { bufferedSteps: 2, maxRuntime: 0 },
    isDev: INNGEST_DEV, // unless it is asked for, cloud mode: without a signing key every request is refused
    ...(INNGEST_BASE_URL && { baseUrl: INNGEST_BASE_URL }),
    ...(INNGEST_EVENT_KEY && { eventKey: INNGEST_EVENT_KEY }),
    ...(INNGEST_SIGNING_KEY && { signingKey: INNGEST_SIGNING_KEY }),
    ...(INNGEST_SIGNING_KEY_FALLBACK && { signingKeyFallback: INNGEST_SIGNING_KEY_FALLBACK }),
  });
}

let client: ReturnType<typeof open> | undefined;

/** The one Inngest client of this process, made at first use so that settings are known. */
export function inngest(): ReturnType<typeof open> {
  client ??= open();
  return client;
}
