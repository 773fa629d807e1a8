import { enqueueRuns, tellCarriers } from "#server/runs/use-cases/request-run.ts";

export interface Wake {
  execution_id: string;
  /** Of the event for an Inngest server: the same one again counts once. */
  id: string;
}

/** Has runs looked at that wait for something that has happened. */
export async function wakeRuns(wakes: readonly Wake[]): Promise<void> {
  if (!wakes.length) return;
  await enqueueRuns(wakes.map(({ execution_id }) => execution_id));
  for (const { execution_id, id } of wakes) void tellCarriers([{ execution_id, project_id: "", dispatch: 0 }], id);
}
