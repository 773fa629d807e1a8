import { handleTrpc as handle } from "#server/http/trpc-handler.ts";

export { handle as GET, handle as POST };
