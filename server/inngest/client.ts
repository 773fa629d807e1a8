import { Inngest } from "inngest";
import { localFetch, sendHints } from "#server/inngest/local/fetch.ts";
import { log } from "#server/log.ts";
import { isEmbeddedExecutor, settings } from "#server/settings.ts";

/** All our events only tell what a row says, and the sweepers send them again; so they may take the short way. */
class EmbeddedInngest extends Inngest {
  override send: Inngest["send"] = async (events) => ({ ids: await sendHints(events) });
}

/** A client for the executor in use: the embedded one through a fetch that answers in process, or a real server. */
function open() {
  const { INNGEST_BASE_URL, INNGEST_DEV, INNGEST_EVENT_KEY, INNGEST_SIGNING_KEY, INNGEST_SIGNING_KEY_FALLBACK } = settings();
  // Every step of ours may be repeated, so the result of one may wait for the next, or for the end of the function.
  const common = { id: "treadle", aiMetadata: false, logger: log, checkpointing: { bufferedSteps: 2, maxRuntime: 0 } } as const;
  if (isEmbeddedExecutor())
    // Dev mode checks no signatures; the embedded executor calls the handler in process and nothing is served over HTTP.
    return new EmbeddedInngest({ ...common, isDev: true, eventKey: "local", baseUrl: "http://inngest.local", fetch: localFetch });
  return new Inngest({
    ...common,
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
