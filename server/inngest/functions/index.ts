import { runWorkflow } from "#server/inngest/functions/run-workflow.ts";

/** Every function, made when settings are known. */
export const inngestFunctions = () => [runWorkflow()];
