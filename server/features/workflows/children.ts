import { triggerOf } from "#server/features/workflows/checks.ts";
import { assertRunnable, triggerValues } from "#server/features/workflows/execute.ts";
import { savedWorkflow } from "#server/features/workflows/saved-workflow.ts";
import { db } from "#server/platform/db/client.ts";
import type { Sweep } from "#server/platform/db/sweep.ts";
import { AppError, ERRORS, isAppError } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import {
  countChild,
  MAY_BE_NEGLECTED,
  neglected,
  noteUnderWay,
  orphans,
  type WantedChild,
  wantedChild,
} from "#server/runs/store/children.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { cancelChild, endWait, tellParent } from "#server/runs/use-cases/end-children.ts";
import { startExecution } from "#server/runs/use-cases/start-execution.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** How deep workflows may call each other; the first run is 1. */
const MOST_DEEP = 10;
/** How many runs one run may bring about, those included that what it starts starts. */
const MOST_RUNS = 10_000;

/** The graph that a node asks for: of the saved version, or of an older one. @throws AppError when there is none */
async function graphFor({ project_id, request: { workflow_id, version } }: WantedChild) {
  const saved = await savedWorkflow(workflow_id);
  if (!saved || saved.project_id !== project_id) throw new AppError("NOT_FOUND", "The workflow that this node runs has been deleted.");
  const { agents, snapshot_id } = saved;
  if (version === "current" || version === saved.version) return { version: saved.version, snapshot_id, graph: saved.graph, agents };
  const kept = await db().workflowVersion.findUnique({
    where: { workflow_id_version: { workflow_id, version } },
    select: { snapshot_id: true },
  });
  if (!kept) throw new AppError("NOT_FOUND", `The workflow that this node runs has no version ${version}.`);
  return { version, snapshot_id: kept.snapshot_id, graph: await snapshotGraph(kept.snapshot_id), agents: null };
}

/** What its trigger is given: a form takes no text that only came along. */
function valuesFor(graph: Graph, { input, is_own, params }: WantedChild["request"]) {
  const given = Object.keys(params).length ? params : undefined;
  const isForm = triggerOf(graph)?.data.kind === "params";
  const takesText = given === undefined ? !isForm || is_own : is_own;
  return triggerValues(graph, { ...(takesText && { input }), ...(given && { params: given }) });
}

async function startWanted(id: string, wanted: WantedChild): Promise<void> {
  const { project_id, parent_id, node_id, depth, started_by_id, assistant_message_id, request } = wanted;
  if (depth >= MOST_DEEP)
    throw new AppError(
      "CONFLICT",
      `Workflows run each other ${MOST_DEEP} deep at most, and this would be one more. Does one of them run itself?`,
    );
  const { version, snapshot_id, graph, agents } = await graphFor(wanted);
  const names = await assertRunnable(project_id, graph, agents);
  const values = valuesFor(graph, request);
  if (!(await countChild(id, parent_id, MOST_RUNS)))
    throw new AppError(
      "CONFLICT",
      `One run brings about ${MOST_RUNS.toLocaleString("en")} others at most, and this would be one more. Does a loop run a workflow that loops itself?`,
    );
  const starter = { started_by_id, assistant_message_id };
  const run = { id, project_id, workflow_id: request.workflow_id, workflow_version: version, snapshot_id, graph, names, ...starter };
  const parent = { execution_id: parent_id, node_id, depth: depth + 1 };
  await startExecution({ ...run, ...values, trigger: "workflow", parent, isCounted: false });
  // The other one may have ended while this began.
  if (!(await noteUnderWay(id))) await cancelChild(id);
}

/**
 * Starts the run that a node waits for, if it still does. What cannot be run fails the node with the reason.
 * @throws whatever may be gone a little later, such as a database that is away: the sweep tries again
 */
export async function startChild(wait_id: string): Promise<void> {
  const wanted = await wantedChild(wait_id);
  if (!wanted) return;
  try {
    await startWanted(wait_id, wanted);
  } catch (error) {
    if (!isAppError(error) || ERRORS[error.code].retryable) throw error;
    await endWait(wait_id, { status: "failed", output: null, error: error.message });
  }
}

/** What a run that is waited for needs, by what has become of it. */
const CARE = { missing: startChild, open: noteUnderWay, ended: tellParent };

/** Looks after runs that nodes wait for: starts what was not started, tells of ends that were not told, cancels what nobody waits for. */
export const childSweep: Sweep = {
  isDue: MAY_BE_NEGLECTED,
  run: async () => {
    const work = [
      ...(await neglected()).map(
        ({ id, run }) =>
          () =>
            CARE[run](id),
      ),
      ...(await orphans()).map((id) => () => cancelChild(id)),
    ];
    for (const each of work)
      await each().catch((err: unknown) =>
        log.warn({ err }, "a run that another one started could not be looked after, the next sweep tries again"),
      );
  },
};
