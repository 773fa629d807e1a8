import { agentChat } from "#server/api/agent-chat.ts";
import { methodNotAllowed } from "#server/api/rest/api-route.ts";

export const dynamic = "force-dynamic";
export const POST = agentChat({ keyNeeds: { scope: "run" } });
const refused = methodNotAllowed("POST");

export { refused as DELETE, refused as GET, refused as OPTIONS, refused as PATCH, refused as PUT };
