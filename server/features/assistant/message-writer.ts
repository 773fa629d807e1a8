import type { AssistantMessage, AssistantRequest, AssistantThread } from "#prisma/generated/client.ts";
import { tellThread } from "#server/features/assistant/events.ts";
import { type End, endMessage, holdThread, LEASE_SECONDS, type Tx } from "#server/features/assistant/messages.ts";
import type { RequestKind, ThreadEvent } from "#server/features/assistant/schema.ts";
import type { ChatMessage } from "#server/llm/chat-body.ts";
import { ToolWaits } from "#server/llm/tools/tool.ts";
import { follow } from "#server/platform/abort.ts";
import { cleanText } from "#server/platform/clean-text.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { jsonColumn } from "#server/platform/db/json-column.ts";
import { AppError, isAppError } from "#server/platform/errors.ts";
import type { MaskedStream, Masker } from "#server/platform/masking/masker.ts";
import { retryDuringOutage } from "#server/runs/store/sql.ts";

/** The person stopped it. */
export class Stopped extends Error {}
/** The message is not this process's to work on any more: it was ended elsewhere, or its thread is gone. */
export class Lost extends Error {}

/** How long pieces of text are gathered before they are told, in milliseconds. */
const FLUSH_MS = 150;

/** Most characters that are kept of one message: whoever owns the model's endpoint must not fill the disk. */
const MOST_KEPT = 2_000_000;

/** What one answer of the model used. */
interface Used {
  input_tokens: number;
  output_tokens: number;
  /** US dollars; null when the price is not known. */
  cost: number | null;
}

/** What a message waits for. */
export interface Wait {
  kind: RequestKind;
  call_id: string;
  tool: string;
  args: object;
  about?: string | null;
  /** @param id of the request */
  event(id: string): ThreadEvent;
}

/**
 * The work on one message as it is written down: its row, what the model will be sent again, and the events for viewers. Writes
 * are made one after the other, and only while the message is this process's.
 */
export class MessageWriter {
  readonly message: AssistantMessage;
  readonly #thread: Pick<AssistantThread, "id">;
  readonly #masker: Masker;
  readonly #stop = new AbortController();
  #writes: Promise<void> = Promise.resolve();
  #shown: MaskedStream;
  /** Said and not told yet. */
  #pending = "";
  #timer: NodeJS.Timeout | undefined;
  /** What was said in rounds before this one, and in it. */
  #before: string;
  #said = "";
  /** Whether this round has said anything, and whether that was told. */
  #hasSaid = false;
  #hasTold = false;
  #kept = 0;
  /** Whether nothing more is written but the end. */
  #isOver = false;

  constructor({ message, thread, masker }: { message: AssistantMessage; thread: Pick<AssistantThread, "id">; masker: Masker }) {
    this.message = { ...message };
    this.#thread = thread;
    this.#masker = masker;
    this.#shown = masker.stream();
    this.#before = message.answer;
  }

  /** Whether nothing has been said about the message at all. */
  get isSilent(): boolean {
    return this.#answer() === "";
  }

  /** Fires when the work must end, with the reason. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  readonly abort = (reason: Error): void => this.#stop.abort(reason);

  /** Ends the work when a signal fires. @returns how to listen to it no more */
  readonly follow = (signal: AbortSignal): (() => void) => follow(this.#stop, signal);

  /** Says that the work goes on, and looks whether it may. Never throws. */
  async renew(): Promise<void> {
    try {
      const { rows } = await pool().query<{ stop_asked: boolean }>({
        name: "assistant-renew",
        text: `UPDATE assistant_messages SET lease_until = now() + interval '${LEASE_SECONDS} seconds'
               WHERE id = $1 AND status = 'working' AND begun_at = $2 RETURNING stop_asked`,
        values: [this.message.id, this.message.begun_at],
      });
      if (rows[0]?.stop_asked) this.abort(new Stopped());
      else if (!rows[0] && !this.#isOver) this.abort(new Lost());
    } catch {
      // A database that is away is asked again at the next beat; a write that it misses ends the work.
    }
  }

  /** Adds a piece to what the model says. */
  say(piece: string): void {
    this.#hasSaid = true;
    this.#add(this.#shown.push(piece));
  }

  #add(text: string): void {
    if (text === "") return;
    this.#said += text;
    this.#pending += text;
    this.#timer ??= setTimeout(() => void this.#write([]).catch(() => undefined), FLUSH_MS);
  }

  /** Takes back what was said in this round: the model is being asked again. */
  takeBack(): void {
    this.#said = "";
    this.#pending = "";
    this.#shown = this.#masker.stream();
    if (this.#hasTold) void this.#write([{ type: "text_reset", message_id: this.message.id }]).catch(() => undefined);
    this.#hasSaid = false;
    this.#hasTold = false;
  }

  /** What the model has said in this round is whole. @param text all of it, for one that did not come in pieces */
  #endText(text: string): void {
    if (!this.#hasSaid && text) this.say(text);
    this.#add(this.#shown.end());
    this.#shown = this.#masker.stream();
  }

  /** Counts what an answer used. */
  use({ input_tokens, output_tokens, cost }: Used): void {
    const { message } = this;
    const isKnown = message.cost !== null || (message.input_tokens === 0 && message.output_tokens === 0);
    message.input_tokens += input_tokens;
    message.output_tokens += output_tokens;
    message.cost = isKnown && cost !== null ? Number(((message.cost ?? 0) + cost).toFixed(12)) : null;
    const used = { input_tokens: message.input_tokens, output_tokens: message.output_tokens, cost: message.cost };
    void this.#write([{ type: "usage", message_id: message.id, ...used }]).catch(() => undefined);
  }

  /** Tells of something. */
  tell(event: ThreadEvent): void {
    void this.#write([event]).catch(() => undefined);
  }

  /** Keeps a message of the conversation. @returns once it is kept */
  join(joined: ChatMessage, events: readonly ThreadEvent[] = []): Promise<void> {
    if (joined.role === "assistant") {
      this.#endText(joined.content);
      this.message.rounds += 1;
    }
    const kept = this.#write(events, [joined]);
    if (joined.role === "assistant") {
      this.#before = this.#answer();
      this.#said = "";
      this.#hasSaid = false;
      this.#hasTold = false;
    }
    return kept;
  }

  /** All that was said, with a blank line between rounds. */
  #answer = (): string => [this.#before, this.#said].filter((text) => text.trim() !== "").join("\n\n");

  /** Adds a write to the queue; what was said until now goes before the events. */
  #write(events: readonly ThreadEvent[], joined: readonly ChatMessage[] = []): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { id: message_id, rounds, input_tokens, output_tokens, cost } = this.message;
    // Half of a pair waits for its other half.
    const whole = /[\uD800-\uDBFF]$/.test(this.#pending) ? -1 : this.#pending.length;
    const text = cleanText(this.#pending.slice(0, whole));
    this.#pending = this.#pending.slice(whole === -1 ? -1 : this.#pending.length);
    if (text) this.#hasTold = true;
    const told: ThreadEvent[] = [...(text ? [{ type: "text_delta" as const, message_id, text }] : []), ...this.#masker.deep([...events])];
    const state = { answer: cleanText(this.#answer()), joined: this.#clean(joined), rounds, input_tokens, output_tokens, cost };
    this.#kept += state.joined.length + JSON.stringify(told).length;
    if (this.#kept > MOST_KEPT)
      this.abort(
        new AppError("PAYLOAD_TOO_LARGE", "The model said more about this message than is kept. Ask for less, or choose another model."),
      );
    this.#writes = this.#writes.then(() =>
      retryDuringOutage(
        () =>
          db().$transaction(async (tx) => {
            await this.#hold(tx);
            const count = await tx.$executeRaw`
              UPDATE assistant_messages SET answer = ${state.answer}, rounds = ${state.rounds}, cost = ${state.cost},
                input_tokens = ${state.input_tokens}, output_tokens = ${state.output_tokens},
                conversation = conversation || ${state.joined}::jsonb
              WHERE id = ${message_id}::uuid AND status = 'working' AND begun_at = ${this.message.begun_at}::timestamptz`;
            if (count === 0) throw new Lost();
            await tellThread(tx, this.#thread.id, told);
          }),
        this.signal,
      ),
    );
    this.#writes.catch((error: Error) => this.abort(error));
    return this.#writes;
  }

  /** JSON without secrets, and without what PostgreSQL does not keep. */
  #clean(value: unknown): string {
    return JSON.stringify(this.#masker.deep(value), (_, value: unknown) => (typeof value === "string" ? cleanText(value) : value));
  }

  /** Holds the thread for the rest of the transaction. @throws Lost when it has been deleted */
  #hold = (tx: Tx): Promise<void> =>
    holdThread(tx, this.#thread.id).catch((error: unknown) => {
      throw isAppError(error) ? new Lost() : error;
    });

  /** What waits to be written is, and then `last`, if the message is still this process's. */
  async #finally(last: (tx: Tx) => Promise<void>): Promise<void> {
    await this.#writes.catch(() => undefined);
    this.#isOver = true;
    await retryDuringOutage(() =>
      db().$transaction(async (tx) => {
        await this.#hold(tx);
        const where = { id: this.message.id, status: "working", begun_at: this.message.begun_at } as const;
        const row = await tx.assistantMessage.findFirst({ where, select: { stop_asked: true } });
        if (!row) throw new Lost();
        await last(tx);
      }),
    );
  }

  /**
   * Leaves the message to a person: the work on it ends here, and goes on with the decision.
   * @throws ToolWaits
   */
  async wait({ kind, call_id, tool, args, about = null, event }: Wait): Promise<never> {
    await this.#write([]);
    await this.#finally(async (tx) => {
      const { id: message_id } = this.message;
      const row = await tx.assistantMessage.update({ where: { id: message_id }, data: { status: "waiting", lease_until: null } });
      if (row.stop_asked) throw new Stopped();
      const request: AssistantRequest = await tx.assistantRequest.create({
        data: { thread_id: this.#thread.id, message_id, kind, call_id, tool, about, arguments: jsonColumn(JSON.parse(this.#clean(args))) },
      });
      await tellThread(tx, this.#thread.id, [this.#masker.deep(event(request.id))]);
    });
    throw new ToolWaits();
  }

  /** Ends the message. Does nothing when it is not this process's any more. */
  async end(end: End, answer?: string): Promise<void> {
    if (end.status === "done") {
      this.#endText(answer ?? "");
      await this.#write([], [{ role: "assistant", content: answer ?? "" }]);
    } else {
      this.#add(this.#shown.end());
      // A stop aborts nothing that is said already.
      await this.#write([]).catch(() => undefined);
    }
    await this.#finally((tx) => endMessage(tx, { id: this.message.id, thread_id: this.#thread.id }, end)).catch((error: unknown) => {
      if (!(error instanceof Lost)) throw error;
    });
  }
}
