import { isAppError } from "#server/platform/errors.ts";
import { type Masker, maskerInSlices, unmasked } from "#server/platform/masking/masker.ts";
import type { EngineServices, RunState } from "#server/runs/ports.ts";
import { dictionary } from "#server/shared/json-text.ts";
import { compileGraph } from "#server/workflow/compiled-graph.ts";

/**
 * The secrets of one segment of a run. In clear they go only to what a node calls; all that is kept and told, and all that
 * later nodes read, has them masked, so that a run taken up again reads the same as one that was never interrupted.
 */
export interface RunSecrets {
  /** By name, in clear, for expressions. */
  values: Readonly<Record<string, string>>;
  /** Of every secret that the graph names, whether its node has run or not. */
  masker: Masker;
  /** Why they cannot be read: every expression that needs one fails with it. */
  fault?: string;
}

const none: RunSecrets = { values: dictionary(), masker: unmasked };

/**
 * Reads the secrets that a run's expressions name; costs nothing when there are none.
 * @throws whatever the port throws when the database is away
 */
export async function readSecrets(services: Pick<EngineServices, "credentials">, run: RunState): Promise<RunSecrets> {
  const names = compileGraph(run.graph).credentials;
  if (names.size === 0) return none;
  try {
    const values = await services.credentials(run.project_id);
    const named = [...names].flatMap((name) => values.get(name) ?? []);
    return { values: dictionary(Object.fromEntries(values)), masker: await maskerInSlices(named) };
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { ...none, fault: `The project's credentials cannot be read. ${error.message}` };
  }
}
