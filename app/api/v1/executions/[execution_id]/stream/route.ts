import { executionStream } from "#server/api/execution-stream.ts";
import { methodNotAllowed } from "#server/api/rest/api-route.ts";

export const dynamic = "force-dynamic";
export const GET = executionStream({ keyNeeds: { scope: "read" }, allowQueryToken: true });
const refused = methodNotAllowed("GET", "HEAD");

export { refused as DELETE, refused as OPTIONS, refused as PATCH, refused as POST, refused as PUT };
