import { server } from "#app/server.ts";

export const dynamic = "force-dynamic";

/** The whole API, event streams included. What is where stands in one table, server/http/api.ts. */
const handle = async (request: Request): Promise<Response> => (await server()).answerApi(request);

export { handle as DELETE, handle as GET, handle as HEAD, handle as OPTIONS, handle as PATCH, handle as POST, handle as PUT };
