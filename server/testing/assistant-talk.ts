import { randomUUID } from "node:crypto";
import type { ScriptStep } from "#e2e/fakes/scripted-model.ts";
import { assistantTools } from "#server/features/assistant/offered-tools.ts";
import { carryThread } from "#server/features/assistant/work.ts";
import { createLlmKey } from "#server/features/llm-keys/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { type Bridge, bridgeOf } from "#server/testing/bridge.ts";
import type { testModelServer } from "#server/testing/model-server.ts";

/** What JSON gives when nobody says what it should be. */
type Json = ReturnType<typeof JSON.parse>;

/** A project whose assistant has the real tools, and its admin with a browser. */
export interface TalkProject {
  admin: ProjectPrincipal;
  page: Bridge;
  key_id: string;
  models: ReturnType<typeof testModelServer>;
  /** Id of the script that its model follows. */
  script: string;
}

export async function talkProject(
  admin: ProjectPrincipal,
  models: TalkProject["models"],
  api_key = "test-key-0123456789",
): Promise<TalkProject> {
  const key = await createLlmKey(admin, { name: "Main", provider: "openai_compatible", api_key, base_url: models.url });
  const page = await bridgeOf(admin);
  const script = randomUUID();
  await page.call("PUT", "/settings", { llm_key_id: key.id, model: `script-${script}` });
  return { admin, page, key_id: key.id, models, script };
}

/** A step of a script that calls one tool. */
export const call = (name: string, args: Record<string, unknown> = {}): ScriptStep => ({ calls: [{ name, args }] });
/** The events of a type. */
export const ofType = (events: Json[], type: string): Json[] => events.filter((event) => event.type === type);

/**
 * Says something to an assistant that follows a script, and has it worked on until it ends or waits for somebody.
 * @param as whose browser writes; the admin's unless given
 */
export async function talk(
  project: TalkProject,
  steps: readonly ScriptStep[],
  more: { thread_id?: string; content?: string; context?: object; mode?: string; as?: Bridge } = {},
) {
  const { models, script } = project;
  models.script(script, [...steps, { say: "That is all." }]);
  const of = { model: `script-${script}` };
  const before = models.calls(of).length;
  const { as: page = project.page, thread_id = (await page.call("POST", "/threads", {})).id, ...rest } = more;
  await page.call("POST", `/threads/${thread_id}/messages`, { content: "Please.", ...rest });
  const carry = () => carryThread(thread_id, assistantTools);
  await carry();
  const asked = () => models.calls(of).slice(before);
  const results = (): string[] =>
    (asked().at(-1)?.request.messages ?? [])
      .filter(({ role }) => role === "tool")
      .map(({ content }) => String(content).replace(/^\[Data from .*\]\n/, ""));
  return {
    thread_id: String(thread_id),
    /** Goes on, once somebody has decided. */
    carry,
    /** What the thread has told so far. */
    async events(): Promise<Json[]> {
      const { last_event_id } = await page.call("GET", `/threads/${thread_id}`);
      return (await page.stream(thread_id, (event) => event.id === String(last_event_id))).map(({ data }) => data);
    },
    /** The requests that its model was sent. */
    asked,
    /** What the model was told by its tools, in order. */
    results,
    /** The same, read where it is JSON. */
    json: (): Json[] => results().map((text) => (/^[[{]/.test(text) ? JSON.parse(text) : text)),
  };
}
