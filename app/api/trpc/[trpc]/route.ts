import { handleTrpc as handle } from "#server/api/trpc-handler.ts";

export { handle as GET, handle as POST };
