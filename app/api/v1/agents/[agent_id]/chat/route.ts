import { methodNotAllowed } from "#server/http/rest/api-route.ts";
import { agentChat } from "#server/http/streams/agent-chat.ts";

export const dynamic = "force-dynamic";
export const POST = agentChat({ keyNeeds: { scope: "run" } });
const refused = methodNotAllowed("POST");

export { refused as DELETE, refused as GET, refused as OPTIONS, refused as PATCH, refused as PUT };
