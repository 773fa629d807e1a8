import { serveJobs } from "#server/platform/children/program.ts";
import { messageOf } from "#server/platform/errors.ts";
import { faultOf, holds } from "#server/runs/effects/condition-sandbox.ts";
import type { ConditionAnswer, ConditionRequest } from "#server/workflow/condition-schema.ts";

// A program of its own, started by conditions.ts: checks and runs conditions, one at a time. It may be killed at any moment.

/** Of a failure, which may quote a text of the condition whole; more than is kept of it, since its secrets are masked before it is cut. */
const MOST_TOLD = 65_536;

await serveJobs(({ condition, variables }: ConditionRequest): ConditionAnswer => {
  try {
    return variables ? { holds: holds(condition, variables) } : faultOf(condition);
  } catch (error) {
    return { failure: messageOf(error).slice(0, MOST_TOLD) };
  }
});
