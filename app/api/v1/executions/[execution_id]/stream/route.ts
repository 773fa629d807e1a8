import { methodNotAllowed } from "#server/http/rest/api-route.ts";
import { executionStream } from "#server/http/streams/execution-stream.ts";

export const dynamic = "force-dynamic";
export const GET = executionStream({ keyNeeds: { scope: "read" }, allowQueryToken: true });
const refused = methodNotAllowed("GET", "HEAD");

export { refused as DELETE, refused as OPTIONS, refused as PATCH, refused as POST, refused as PUT };
