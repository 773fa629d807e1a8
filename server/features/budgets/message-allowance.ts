import type { Hold } from "#server/features/budgets/holds.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { AppError, isAppError } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { settings } from "#server/platform/settings.ts";
import { openRunsOfMessage } from "#server/runs/store/executions.ts";
import { cancelExecution } from "#server/runs/use-cases/cancel-execution.ts";

// A message to the assistant may spend ASSISTANT_MESSAGE_COST, together with the runs that were started for it and those that these
// start in turn. As with budgets (decision 33), each model call reserves its estimate first, in one statement that locks the
// message, and is settled with its cost: concurrent calls exceed the limit by no more than the call that reaches it, and by what
// calls in flight cost beyond their estimates.

/** Tokens without a known price that count as one US dollar: those of a model at 2.50 dollars per million. */
export const TOKENS_PER_DOLLAR = 400_000;

/** A model call that is not made because the message has reached its limit. */
export class MessageLimitReached extends AppError {
  constructor(spent: number, most: number) {
    super(
      "CONFLICT",
      `This message has reached its cost limit: ${spent.toFixed(2)} of ${most} US dollars (ASSISTANT_MESSAGE_COST), with the runs that it started, which are cancelled. ${TOKENS_PER_DOLLAR.toLocaleString("en")} tokens without a known price count as one dollar. Say “Go on” to spend as much again.`,
    );
  }
}

const HOLD = `
  UPDATE assistant_messages
  SET held = held + $2::numeric
  WHERE id = $1::uuid AND spent + held < $3::numeric
  RETURNING id`;

const SETTLE = `
  UPDATE assistant_messages
  SET held = greatest(0, held - $2::numeric), spent = spent + $3::numeric
  WHERE id = $1::uuid
  RETURNING spent::float8`;

const SPENT = "SELECT spent::float8 FROM assistant_messages WHERE id = $1::uuid";

/**
 * Reserves the estimate of a model call in the message's allowance.
 * @param estimate in US dollars
 * @returns the hold; undefined without a limit, and for a message that was deleted
 * @throws MessageLimitReached when the limit is spent or reserved
 */
export async function holdForMessage(message_id: string, estimate: number): Promise<Hold | undefined> {
  const most = settings().ASSISTANT_MESSAGE_COST;
  if (most === 0) return undefined;
  const held = await pool().query({ name: "message-hold", text: HOLD, values: [message_id, estimate, most] });
  if (held.rows.length) return { settle: (cost) => settle(message_id, estimate, cost) };

  const { rows } = await pool().query<{ spent: number }>({ name: "message-spent", text: SPENT, values: [message_id] });
  const [row] = rows;
  if (!row) return undefined;
  if (row.spent >= most) await cancelRunsOf(message_id);
  throw new MessageLimitReached(row.spent, most);
}

/** Never throws: what is not settled stays reserved as estimated. */
async function settle(message_id: string, estimate: number, cost: number): Promise<void> {
  try {
    const values = [message_id, estimate, cost];
    const { rows } = await pool().query<{ spent: number }>({ name: "message-settle", text: SETTLE, values });
    const most = settings().ASSISTANT_MESSAGE_COST;
    if (most > 0 && (rows[0]?.spent ?? 0) >= most) await cancelRunsOf(message_id);
  } catch (error) {
    log.warn({ err: error, message_id }, "cost of a call was not settled with its message; its estimate stays reserved");
  }
}

/** Returns the person whose message it is, as the assistant acts for them; undefined once it was deleted. */
async function authorOf(message_id: string): Promise<ProjectPrincipal | undefined> {
  const row = await db().assistantMessage.findUnique({
    where: { id: message_id },
    select: {
      thread: {
        select: {
          user: { select: { id: true, email: true, name: true } },
          project: { select: { id: true, slug: true, name: true } },
        },
      },
    },
  });
  return row ? { ...row.thread, auth: { type: "assistant" }, role: "editor" } : undefined;
}

/** Cancels the runs in progress that the message has brought about, and with each the runs that its nodes started. */
async function cancelRunsOf(message_id: string): Promise<void> {
  const author = await authorOf(message_id);
  if (!author) return;
  for (const execution_id of await openRunsOfMessage(message_id))
    await cancelExecution(author, { execution_id }).catch((error: unknown) => {
      // Already ended, or cancelled by a concurrent call.
      if (!isAppError(error)) throw error;
    });
}
