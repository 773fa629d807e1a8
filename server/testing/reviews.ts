import { vi } from "vitest";
import type { Wait } from "#prisma/generated/client.ts";
import { inngest } from "#server/events/inngest-client.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { startExecution } from "#server/runs/use-cases/start-execution.ts";
import { deciderDto, verdictOf } from "#server/runs/waits/review.ts";
import type { ReviewTerms } from "#server/workflow/nodes/review-terms.ts";

const position = { x: 0, y: 0 };
const review = (id: string) => ({ id, type: "humanLoopNode", position, data: { label: `Check ${id}` } });

/** A run with reviews `a` and `b` that has paused, as the run loop leaves it; the reviews are for the test to open. */
export async function newPausedRun(admin: ProjectPrincipal, name = "Reviewed"): Promise<string> {
  const nodes = [{ id: "t", type: "triggerNode", position, data: { label: "Start" } }, review("a"), review("b")];
  const edges = ["a", "b"].map((target) => ({ id: target, source: "t", target }));
  const workflow = await createWorkflow(admin, { name, nodes, edges });
  const { snapshot_id } = await db().workflow.findUniqueOrThrow({ where: { id: workflow.id } });
  const common = { project_id: admin.project.id, workflow_id: workflow.id, workflow_version: 1, snapshot_id, started_by_id: admin.user.id };
  const { execution_id } = await startExecution({ ...common, trigger: "manual", input: "x", params: null });
  await db().execution.update({ where: { id: execution_id }, data: { status: "paused", run_at: null } });
  return execution_id;
}

interface ReviewFields {
  iteration?: string;
  title?: string;
  description?: string;
  display_value?: string;
  due_at?: Date;
  notification_email?: string;
  text?: string;
  terms?: Partial<ReviewTerms>;
  remind_at?: Date;
}

/** A review at which the run waits. */
export async function openReview(execution_id: string, node_id: string, { due_at, ...fields }: ReviewFields = {}): Promise<{ id: string }> {
  const { project_id } = await db().execution.findUniqueOrThrow({ where: { id: execution_id }, select: { project_id: true } });
  const texts = { label: `Check ${node_id}`, title: "Good?", display_value: "Text", ...fields };
  return db().wait.create({ data: { project_id, execution_id, node_id, reason: "review", deadline: due_at ?? null, ...texts } });
}

/** The row of a review, with what was decided in the words that people read. */
export const asReview = (row: Wait) => ({ ...row, ...verdictOf(row), via: deciderDto(row).via, decided_at: row.resolved_at });

export const reviewRow = async (id: string) => asReview(await db().wait.findUniqueOrThrow({ where: { id } }));

/** Puts every time of a review further into the past, as if so many seconds had gone by. */
export const ageReview = (id: string, seconds: number) =>
  pool().query(
    `UPDATE waits SET resolved_at = resolved_at - make_interval(secs => $2), woken_at = woken_at - make_interval(secs => $2),
       created_at = created_at - make_interval(secs => $2), deadline = deadline - make_interval(secs => $2) WHERE id = $1`,
    [id, seconds],
  );

export const inSeconds = (seconds: number): Date => new Date(Date.now() + seconds * 1000);

export interface SentEvent {
  name: string;
  id?: string;
  data: Record<string, unknown>;
}

/** Stands in for an Inngest server. @returns the events that are sent to it from now on, newest last */
export function collectEvents(): SentEvent[] {
  setSettings({ INNGEST_BASE_URL: "http://127.0.0.1:9", INNGEST_EVENT_KEY: "event-key", INNGEST_SIGNING_KEY: "00" });
  const sent: SentEvent[] = [];
  vi.spyOn(inngest(), "send").mockImplementation(async (events) => {
    sent.push(...([events].flat() as SentEvent[]));
    return { ids: [] };
  });
  return sent;
}
