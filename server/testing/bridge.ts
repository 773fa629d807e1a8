import { randomUUID } from "node:crypto";
import { encode } from "next-auth/jwt";
import { readEvents, type WireEvent } from "#e2e/api/read-stream.ts";
import { answerApi } from "#server/http/api.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { passwordMark, sessionCookieName } from "#server/platform/auth/session.ts";
import { settings } from "#server/platform/settings.ts";

/** What JSON gives when nobody says what it should be. */
type Json = ReturnType<typeof JSON.parse>;

export const ORIGIN = "http://localhost:4000";

/** A person's browser, as it calls the web app's own part of the API in this process. */
export interface Bridge {
  /** Headers of a page of ours. */
  headers: Record<string, string>;
  /** The answer to a request below /api/v1/bridge. */
  ask(method: string, path: string, body?: object): Promise<{ status: number; data: Json }>;
  /** The same, which must succeed. @throws Error */
  call(method: string, path: string, body?: object): Promise<Json>;
  /** What the stream of a thread tells from number `after` on, until `isEnough`. */
  stream(thread_id: string, isEnough: (event: WireEvent) => boolean, after?: number): Promise<WireEvent[]>;
}

/** Signs somebody in, whose account has no password. The settings AUTH_SECRET and APP_URL (as `ORIGIN`) must be set. */
export async function bridgeOf({ user, project }: ProjectPrincipal): Promise<Bridge> {
  const token = { sub: user.id, sid: randomUUID(), password_mark: passwordMark(null) };
  const session = await encode({ token, secret: settings().AUTH_SECRET ?? "" });
  const headers = { cookie: `${sessionCookieName(false)}=${session}`, origin: ORIGIN, "x-project-id": project.id };
  const ask: Bridge["ask"] = async (method, path, body) => {
    const init = body && { body: JSON.stringify(body), headers: { ...headers, "content-type": "application/json" } };
    const answer = await answerApi(new Request(`${ORIGIN}/api/v1/bridge${path}`, { method, headers, ...init }));
    const text = await answer.text();
    return { status: answer.status, data: text === "" ? undefined : JSON.parse(text) };
  };
  return {
    headers,
    ask,
    async call(method, path, body) {
      const { status, data } = await ask(method, path, body);
      if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(data)}`);
      return data;
    },
    async stream(thread_id, isEnough, after = 0) {
      const address = `${ORIGIN}/api/v1/bridge/threads/${thread_id}/stream`;
      return readEvents(await answerApi(new Request(address, { headers: { ...headers, "last-event-id": String(after) } })), isEnough);
    },
  };
}
