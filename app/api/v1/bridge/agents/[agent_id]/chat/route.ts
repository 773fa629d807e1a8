import { handleUnknownBridgePath as refused } from "#server/http/rest/bridge.ts";
import { agentChat } from "#server/http/streams/agent-chat.ts";

export const dynamic = "force-dynamic";
// The web app's own chat: the browser session only, and it does not spend the API's budget.
export const POST = agentChat({ sessionOnly: true });

export { refused as DELETE, refused as GET, refused as OPTIONS, refused as PATCH, refused as PUT };
