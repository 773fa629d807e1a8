import { handleUnknownBridgePath as refused } from "#server/http/rest/bridge.ts";
import { executionStream } from "#server/http/streams/execution-stream.ts";

export const dynamic = "force-dynamic";
// The web app's own viewer: the browser session only, and it does not spend the API's budget.
export const GET = executionStream({ sessionOnly: true });

export { refused as DELETE, refused as OPTIONS, refused as PATCH, refused as POST, refused as PUT };
