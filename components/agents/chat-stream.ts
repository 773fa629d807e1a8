import type { EventSourceMessage } from "eventsource-parser";
import type { ChatTurn } from "#components/agents/chat-turns.ts";
import { readEvents } from "#components/read-events.ts";
import { errorBodyIn } from "#components/trpc.tsx";
import { ChatEvent, type PromptPreviewInput } from "#server/features/agents/schema.ts";

export interface ChatCall {
  /** Undefined of an agent that is not there yet. */
  agentId: string | undefined;
  /** What is asked in place of the published version. */
  config?: PromptPreviewInput | undefined;
  projectId: string;
  message: string;
  /** Earlier turns, oldest first. */
  history: ChatTurn[];
  /** Ends the call, here and at the model. */
  signal: AbortSignal;
  onEvent(event: ChatEvent): void;
  /** Tests hand in their own. */
  fetch?: typeof globalThis.fetch;
}

const AWAY = "The service cannot be reached. Check your connection and try again.";
const BROKEN = "The connection broke off before the answer was whole. Send the message again.";

/** An event of the stream; undefined for one of a kind that this version does not know. */
function read({ data }: EventSourceMessage): ChatEvent | undefined {
  try {
    return ChatEvent.safeParse(JSON.parse(data)).data;
  } catch {
    return undefined;
  }
}

async function refusal(response: Response): Promise<string> {
  return errorBodyIn(await response.json().catch(() => undefined))?.detail ?? AWAY;
}

/**
 * Sends one message and hands on what comes back, up to and with one `done` or `error`: whatever goes wrong on the way
 * is an `error` too. After an abort nothing more comes.
 */
export async function streamChat({ agentId, config, projectId, message, history, signal, onEvent, fetch = globalThis.fetch }: ChatCall) {
  const tell = (event: ChatEvent) => {
    if (!signal.aborted) onEvent(event);
  };
  try {
    const path = config || agentId === undefined ? "try" : `${encodeURIComponent(agentId)}/chat`;
    const response = await fetch(`/api/v1/bridge/agents/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-project-id": projectId },
      body: JSON.stringify(config ? { config, agent_id: agentId, message, history, stream: true } : { message, history }),
      signal,
    });
    if (!response.ok || !response.body) return tell({ type: "error", detail: await refusal(response) });
    for await (const message of readEvents(response.body)) {
      const event = read(message);
      if (event) tell(event);
      if (event?.type === "done" || event?.type === "error") return;
    }
    tell({ type: "error", detail: BROKEN });
  } catch {
    tell({ type: "error", detail: AWAY });
  }
}
