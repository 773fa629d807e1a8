import { v7 as uuid } from "uuid";
import type { AssistantMessage, AssistantThread } from "#prisma/generated/client.ts";
import { assistantAsked } from "#server/events/events.ts";
import { publishEvents } from "#server/events/send-events.ts";
import { tellFollowers, tellThread } from "#server/features/assistant/events.ts";
import { endMessage, holdThread, isAlive, messageDto, OPEN } from "#server/features/assistant/messages.ts";
import { withoutSecrets } from "#server/features/assistant/pasted-secrets.ts";
import type {
  Attached,
  CreateThreadInput,
  MessageContext,
  SendMessageInput,
  StopInput,
  Thread,
  ThreadSummary,
} from "#server/features/assistant/schema.ts";
import { assistantModel } from "#server/features/assistant/settings.ts";
import { findCanvas } from "#server/features/canvases/service.ts";
import { findWorkflow } from "#server/features/workflows/rows.ts";
import { countMessage } from "#server/platform/auth/limits.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, invalidField, isAppError, notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import { findExecution } from "#server/runs/store/executions.ts";
import { assertRoom } from "#server/runs/store/limits.ts";
import type { Page, PageInput } from "#server/shared/primitives-schema.ts";
import { labelOf } from "#server/workflow/graph.ts";
import { Graph } from "#server/workflow/schema.ts";

/** How many threads a person keeps in a project, how many messages one holds, and how many of them may wait at a time. */
const MOST_THREADS = 500;
const MOST_MESSAGES = 300;
const MOST_OPEN = 10;
/** Characters of the first message that become the title. */
const TITLE = 80;

type Row = AssistantThread & { messages: Pick<AssistantMessage, "status">[] };
/** The messages that are not over. */
const working = { messages: { where: OPEN, select: { status: true }, take: MOST_OPEN } } as const;

const summaryOf = ({ id, title, workflow_id, messages, created_at, updated_at }: Row): ThreadSummary => ({
  id,
  title,
  workflow_id,
  is_working: messages.length > 0,
  is_waiting: messages.some(({ status }) => status === "waiting"),
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

/** The caller's own threads of the project, first those in which something happened last. */
export async function listThreads({ user, project }: ProjectPrincipal, input: PageInput): Promise<Page<ThreadSummary>> {
  const where = { project_id: project.id, user_id: user.id };
  const rows = db().assistantThread.findMany({
    where,
    include: working,
    orderBy: [{ updated_at: "desc" }, { id: "desc" }],
    ...pageWindow(input),
  });
  return paged(input, await Promise.all([db().assistantThread.count({ where }), rows]), summaryOf);
}

/**
 * A thread of the caller.
 * @throws AppError NOT_FOUND, also for somebody else's
 */
export async function findThread({ user, project }: ProjectPrincipal, thread_id: string): Promise<Row> {
  const where = { id: thread_id, project_id: project.id, user_id: user.id };
  const row = isUuid(thread_id) ? await db().assistantThread.findFirst({ where, include: working }) : null;
  if (!row) throw notFound("thread");
  return row;
}

/** The project that a thread is in; undefined when there is no such thread. */
export async function projectOfThread(thread_id: string): Promise<string | undefined> {
  const row = isUuid(thread_id) ? await db().assistantThread.findUnique({ where: { id: thread_id }, select: { project_id: true } }) : null;
  return row?.project_id;
}

/** What was read for a field of an input. @throws AppError VALIDATION_ERROR at the field for what the project does not have */
async function there<Row>(path: string, what: string, read: Promise<Row>): Promise<Row> {
  return read.catch((error: unknown) => {
    if (!isAppError(error) || error.code !== "NOT_FOUND") throw error;
    throw invalidField(path, `There is no such ${what} in this project.`);
  });
}

/**
 * What a message is about beside its words, by the names of this moment.
 * @throws AppError VALIDATION_ERROR for what the project does not have
 */
async function attachedTo(
  principal: ProjectPrincipal,
  { workflow_id, execution_id, node_id, canvas_id }: MessageContext,
): Promise<Attached[]> {
  const project_id = principal.project.id;
  const [workflow, execution, canvas] = await Promise.all([
    workflow_id === undefined
      ? null
      : there("context.workflow_id", "workflow", findWorkflow(principal, workflow_id, { name: true, draft: { select: { graph: true } } })),
    execution_id === undefined
      ? null
      : there(
          "context.execution_id",
          "execution",
          findExecution({ project_id, execution_id }, { workflow: { select: { name: true } }, snapshot: { select: { graph: true } } }),
        ),
    canvas_id === undefined ? null : there("context.canvas_id", "canvas", findCanvas(project_id, canvas_id)),
  ]);
  const graph = execution?.snapshot.graph ?? workflow?.draft?.graph;
  const node = node_id !== undefined && graph ? Graph.parse(graph).nodes.find(({ id }) => id === node_id) : undefined;
  return [
    ...(workflow ? [{ kind: "workflow" as const, name: workflow.name }] : []),
    ...(execution ? [{ kind: "execution" as const, name: execution.workflow.name }] : []),
    ...(node ? [{ kind: "node" as const, name: labelOf(node) }] : []),
    ...(canvas ? [{ kind: "canvas" as const, name: canvas.name }] : []),
  ];
}

/**
 * Begins a thread of the caller.
 * @throws AppError VALIDATION_ERROR for a workflow that the project does not have; CONFLICT for more threads than are kept
 */
export async function createThread(principal: ProjectPrincipal, { title = "", workflow_id }: CreateThreadInput): Promise<ThreadSummary> {
  const owned = { project_id: principal.project.id, user_id: principal.user.id };
  if (workflow_id !== undefined) await there("workflow_id", "workflow", findWorkflow(principal, workflow_id, { id: true }));
  if ((await db().assistantThread.count({ where: owned })) >= MOST_THREADS)
    throw new AppError("CONFLICT", `You have ${MOST_THREADS} threads in this project, which is the most. Delete some of them first.`);
  return summaryOf(await db().assistantThread.create({ data: { ...owned, title, workflow_id: workflow_id ?? null }, include: working }));
}

/**
 * A thread with its messages, the oldest first.
 * @throws AppError NOT_FOUND
 */
export async function getThread(principal: ProjectPrincipal, { thread_id }: { thread_id: string }): Promise<Thread> {
  const row = await findThread(principal, thread_id);
  const messages = await db().assistantMessage.findMany({ where: { thread_id }, omit: { conversation: true }, orderBy: { id: "asc" } });
  return { ...summaryOf(row), messages: messages.map(messageDto), last_event_id: row.last_seq };
}

/** @throws AppError NOT_FOUND */
export async function renameThread(
  principal: ProjectPrincipal,
  { thread_id, title }: { thread_id: string; title: string },
): Promise<ThreadSummary> {
  const { id } = await findThread(principal, thread_id);
  const [row] = await db().assistantThread.updateManyAndReturn({ where: { id }, data: { title } });
  if (!row) throw notFound("thread");
  return summaryOf(await findThread(principal, thread_id));
}

/** Tells whoever works on a message, in whichever process, to look at its row again. */
export const tellWorker = (tx: Pick<ReturnType<typeof db>, "$executeRaw">, message_id: string) =>
  tx.$executeRaw`SELECT pg_notify('treadle_control', ${message_id})`;

/**
 * Deletes a thread with all that was said in it; work under way stops, and whoever follows it is told that it has ended.
 * @throws AppError NOT_FOUND
 */
export async function deleteThread(principal: ProjectPrincipal, { thread_id }: { thread_id: string }): Promise<void> {
  const { id } = await findThread(principal, thread_id);
  await db().$transaction(async (tx) => {
    const working = await tx.assistantMessage.findMany({ where: { thread_id: id, status: "working" }, select: { id: true } });
    await tx.assistantThread.deleteMany({ where: { id } });
    for (const message of working) await tellWorker(tx, message.id);
    await tellFollowers(tx, id);
  });
}

/** Has the work on a thread begin, or go on. What cannot be sent is made up for by `resumeThreads`. @param id of what asks for it */
export const askForWork = ({ id: thread_id, project_id }: Pick<AssistantThread, "id" | "project_id">, id: string): Promise<void> =>
  publishEvents([assistantAsked.create({ thread_id, project_id }, { id })]);

/**
 * Takes a message, to be worked on once those before it are over.
 * @throws AppError NOT_FOUND; CONFLICT while the assistant has no model, in a full project, and for more messages than a thread
 *   holds; VALIDATION_ERROR for a context that the project does not have; RATE_LIMIT_EXCEEDED for more than a person writes in an
 *   hour
 */
export async function sendMessage(
  principal: ProjectPrincipal,
  { thread_id, content, context = {}, mode }: SendMessageInput,
): Promise<{ message_id: string }> {
  const thread = await findThread(principal, thread_id);
  const { problem } = await assistantModel(thread.project_id);
  if (problem !== undefined) throw new AppError("CONFLICT", problem);
  const attached = await attachedTo(principal, context);
  await assertRoom(thread.project_id);
  await countMessage(principal.user.id);
  const text = await withoutSecrets(thread.project_id, content);
  const id = uuid();
  await db().$transaction(async (tx) => {
    await holdThread(tx, thread_id);
    const [all, open] = [
      await tx.assistantMessage.count({ where: { thread_id } }),
      await tx.assistantMessage.count({ where: { thread_id, ...OPEN } }),
    ];
    if (all >= MOST_MESSAGES)
      throw new AppError("CONFLICT", `This thread has ${MOST_MESSAGES} messages, which is the most. Begin another one.`);
    if (open >= MOST_OPEN)
      throw new AppError("CONFLICT", `${MOST_OPEN} messages wait in this thread already. Wait for an answer, or stop it.`);
    const { created_at } = await tx.assistantMessage.create({ data: { id, thread_id, content: text, mode, context } });
    const title = text.split("\n", 1)[0]?.slice(0, TITLE).toWellFormed().trim() ?? "";
    if (thread.title === "") await tx.assistantThread.updateMany({ where: { id: thread_id, title: "" }, data: { title } });
    const said = { content: text, mode, context, attached, created_at: created_at.toISOString() };
    await tellThread(tx, thread_id, [{ type: "message", message_id: id, ...said }]);
  });
  await askForWork(thread, id);
  return { message_id: id };
}

/**
 * Stops the work on a thread, or on one of its messages: what waits ends at once, also for a person; what is under way within two
 * seconds, in whichever process. What was said and done stays.
 * @throws AppError NOT_FOUND
 */
export async function stopThread(principal: ProjectPrincipal, { thread_id, message_id }: StopInput): Promise<ThreadSummary> {
  await findThread(principal, thread_id);
  await db().$transaction(async (tx) => {
    await holdThread(tx, thread_id);
    const one = message_id !== undefined && { id: message_id };
    if (one && !(isUuid(one.id) && (await tx.assistantMessage.count({ where: { thread_id, ...one } })))) throw notFound("message");
    const where = { thread_id, ...OPEN, ...one };
    for (const message of await tx.assistantMessage.findMany({ where, orderBy: { id: "asc" } })) {
      if (!isAlive(message)) {
        await endMessage(tx, message, { status: "stopped" });
        continue;
      }
      await tx.assistantMessage.update({ where: { id: message.id }, data: { stop_asked: true } });
      await tellWorker(tx, message.id);
    }
  });
  return summaryOf(await findThread(principal, thread_id));
}
