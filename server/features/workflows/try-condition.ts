import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { messageOf } from "#server/platform/errors.ts";
import { codeFault } from "#server/runs/effects/code.ts";
import { conditionFault, evaluateCondition } from "#server/runs/effects/conditions.ts";
import { HostFault } from "#server/runs/ports.ts";
import { findExecution } from "#server/runs/store/executions.ts";
import { leftBehind } from "#server/runs/store/node-results.ts";
import type {
  CheckCodeInput,
  CheckConditionInput,
  ConditionTrial,
  ConditionVariables,
  PythonCheck,
  TryConditionInput,
} from "#server/workflow/condition-schema.ts";

/** What is wrong with a Python condition, for the editor while it is typed. Reads nothing of the project. */
export const checkCondition = async (
  { project }: ProjectPrincipal,
  { condition }: CheckConditionInput,
  signal: AbortSignal = new AbortController().signal,
): Promise<PythonCheck> => ({ fault: (await conditionFault(condition, project.id, signal)) ?? null });

/** The same of the Python of a code node. */
export const checkCode = async (
  { project }: ProjectPrincipal,
  { code, inputs }: CheckCodeInput,
  signal: AbortSignal = new AbortController().signal,
): Promise<PythonCheck> => ({ fault: (await codeFault(code, inputs, project.id, signal)) ?? null });

interface Result {
  text: string;
  completed_at: number;
}

/** What each node left behind in a run; of one inside a loop, its latest iteration. A failed one left its error. */
async function resultsOf(execution_id: string, ids: ReadonlySet<string>): Promise<Map<string, Result>> {
  const rows = await leftBehind(execution_id, [...ids]);
  return new Map(
    rows.map(({ node_id, text, completed_at, is_skipped }) => [
      node_id,
      { text: text ?? "", completed_at: is_skipped ? 0 : (completed_at?.getTime() ?? 0) },
    ]),
  );
}

/**
 * What a condition comes to on the values of a past run, in the sandbox that runs it (specification, branchNode). Changes nothing.
 * @throws AppError NOT_FOUND
 */
export async function tryCondition(
  { project }: ProjectPrincipal,
  { condition, execution_id, before, item, outputs, pinned = {} }: TryConditionInput,
  signal: AbortSignal = new AbortController().signal,
): Promise<ConditionTrial> {
  const execution = await findExecution({ project_id: project.id, execution_id }, { values: { select: { input: true } } });
  const named = condition.includes("node_outputs") ? Object.entries(outputs) : [];
  const results = await resultsOf(execution_id, new Set([...before, ...named.flatMap(([, ids]) => ids)]));
  for (const [id, text] of Object.entries(pinned)) results.set(id, { text, completed_at: Number.POSITIVE_INFINITY });
  const textOf = (ids: readonly string[]) =>
    ids.flatMap((id) => results.get(id) ?? []).sort((a, b) => b.completed_at - a.completed_at)[0]?.text;
  const variables: ConditionVariables = {
    output: item ?? before.flatMap((id) => results.get(id)?.text || []).join("\n\n"),
    trigger_output: execution.values?.input ?? "",
    node_outputs: Object.fromEntries(named.flatMap(([name, ids]) => (textOf(ids) === undefined ? [] : [[name, textOf(ids) ?? ""]]))),
  };
  try {
    return { holds: await evaluateCondition(condition, variables, () => signal, project.id), failure: null };
  } catch (error) {
    if (error instanceof HostFault) return { holds: null, failure: "It cannot be tried now. A run would try it again." };
    return { holds: null, failure: messageOf(error) };
  }
}
