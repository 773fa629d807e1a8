import type { z } from "zod";
import { type ChatHandlers, chatWithAgent, tryAgent } from "#server/features/agents/chat.ts";
import { type AgentReply, ChatBody, type ChatEvent, TryAgentBody } from "#server/features/agents/schema.ts";
import { readJsonObject } from "#server/http/messages/read-json.ts";
import { jsonResponse, loggedErrorResponse } from "#server/http/messages/respond.ts";
import { withIdempotency } from "#server/http/rest/idempotency.ts";
import { type ApiCall, type ApiRouteOptions, apiRoute } from "#server/http/streams/api-route.ts";
import { type StreamEvent, sseResponse } from "#server/http/streams/sse.ts";
import { follow } from "#server/platform/abort.ts";
import { Bell } from "#server/platform/bell.ts";
import { AppError, errorBody, isAppError } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { fieldErrors } from "#server/platform/rpc/trpc.ts";

/** How long a stream may be silent before a comment keeps the line open, in milliseconds (contract, section 1). */
const HEARTBEAT_MS = 15_000;

/** The body, as strictly as a procedure takes it. */
async function readBody<Schema extends z.ZodType>(request: Request, schema: Schema): Promise<z.infer<Schema>> {
  const parsed = schema.safeParse(await readJsonObject(request));
  if (parsed.success) return parsed.data;
  const errors = fieldErrors(parsed.error);
  const first = errors[0];
  throw new AppError("VALIDATION_ERROR", `${first?.path || "body"}: ${first?.message}`, { errors });
}

/** One call, and what it has told so far. */
class Chat {
  readonly #told: ChatEvent[] = [];
  readonly #bell = new Bell();
  readonly #gone: AbortController;
  #isOver = false;
  #failure: unknown;

  constructor(
    call: (
      handlers: Required<ChatHandlers>,
    ) => Promise<Pick<AgentReply, "input_tokens" | "output_tokens" | "cost" | "agent_version" | "truncated">>,
    gone: AbortController,
  ) {
    this.#gone = gone;
    const tell = (event: ChatEvent) => {
      this.#told.push(event);
      this.#bell.ring();
    };
    call({ signal: gone.signal, tell })
      .then(
        ({ input_tokens, output_tokens, cost, agent_version, truncated }) =>
          tell({ type: "done", input_tokens, output_tokens, cost, agent_version, ...(truncated && { truncated }) }),
        (error: unknown) => {
          this.#failure = error;
        },
      )
      .finally(() => {
        this.#isOver = true;
        this.#bell.ring();
      });
  }

  /**
   * Waits for the first event, no longer than a stream may be silent.
   * @throws what the call failed with before it told anything: the answer can still be an error of its own
   */
  async begun(): Promise<void> {
    await this.#bell.rung(HEARTBEAT_MS);
    this.#bell.ring();
    if (this.#failure !== undefined && this.#told.length === 0) throw this.#failure;
  }

  /** Everything that is told, numbered from 1, up to `done` or `error`. */
  async *events(): AsyncGenerator<StreamEvent | "idle"> {
    let seq = 0;
    const numbered = (event: ChatEvent): StreamEvent => ({ seq: ++seq, type: event.type, data: event });
    try {
      while (!this.#gone.signal.aborted) {
        const started = Date.now();
        for (let event = this.#told.shift(); event; event = this.#told.shift()) yield numbered(event);
        if (this.#isOver && this.#told.length === 0) {
          if (this.#failure !== undefined) yield numbered({ type: "error", detail: detailOf(this.#failure) });
          return;
        }
        await this.#bell.rung(HEARTBEAT_MS);
        if (this.#told.length === 0 && !this.#isOver && Date.now() - started >= HEARTBEAT_MS) yield "idle";
      }
    } finally {
      this.#gone.abort();
    }
  }
}

function detailOf(error: unknown): string {
  if (!isAppError(error)) log.error({ err: error }, "a chat failed with an internal error");
  return errorBody(error).detail;
}

/** What is asked of whom: its content, for a repeated request, and the call that answers. */
interface Asked {
  operation: string;
  input: object;
  stream: boolean;
  call: (handlers: ChatHandlers) => Promise<AgentReply>;
}

async function answer(
  request: Request,
  { principal, signal, reserveStream }: Pick<ApiCall<unknown>, "principal" | "signal" | "reserveStream">,
  { operation, input, stream, call }: Asked,
) {
  const gone = new AbortController();
  follow(gone, signal);
  if (!stream) {
    const asked = { principal, project_id: principal.project.id, operation, content: () => [JSON.stringify(input)] };
    const reply = async () => jsonResponse(await call({ signal: gone.signal }));
    return withIdempotency(request.headers, asked, () => reply().catch((error: unknown) => loggedErrorResponse(error, request)));
  }
  reserveStream();
  const chat = new Chat(call, gone);
  await chat.begun();
  return sseResponse(chat.events(), () => gone.abort());
}

/**
 * `POST …/agents/{agent_id}/chat`: the answer as server-sent events, or as one JSON body with `stream: false`. A call that
 * fails before it told anything is an error answer; later it is an `error` event. When the client goes away, the call of
 * the model and its tools are aborted.
 */
export const agentChat = (options: ApiRouteOptions) =>
  apiRoute<{ agent_id: string }>(
    async (request, route) => {
      const { principal, params } = route;
      const { stream, ...body } = await readBody(request, ChatBody);
      const input = { ...body, agent_id: params.agent_id };
      const call = (handlers: ChatHandlers) => chatWithAgent(principal, input, handlers);
      return answer(request, route, { operation: "POST /agents/{agent_id}/chat", input, stream, call });
    },
    { ...options, role: "editor" },
  );

/** `POST …/agents/try`: the same of an agent as the body describes it; streamed only with `stream: true`. */
export const agentTrial = (options: ApiRouteOptions) =>
  apiRoute<Record<string, never>>(
    async (request, route) => {
      const { stream, ...input } = await readBody(request, TryAgentBody);
      const call = (handlers: ChatHandlers) => tryAgent(route.principal, input, handlers);
      return answer(request, route, { operation: "POST /agents/try", input, stream, call });
    },
    { ...options, role: "editor" },
  );
