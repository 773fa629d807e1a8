import { executionStream } from "#server/api/execution-stream.ts";

export const dynamic = "force-dynamic";
// The web app's own viewer: the browser session only, and it does not spend the API's budget.
export const GET = executionStream({ sessionOnly: true });
