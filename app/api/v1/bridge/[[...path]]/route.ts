import { handleUnknownBridgePath as handle } from "#server/http/rest/bridge.ts";

export { handle as DELETE, handle as GET, handle as HEAD, handle as OPTIONS, handle as PATCH, handle as POST, handle as PUT };
