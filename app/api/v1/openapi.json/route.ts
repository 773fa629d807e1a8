import { methodNotAllowed } from "#server/api/rest/api-route.ts";
import { openApiResponse } from "#server/api/rest/openapi.ts";

const refuse = methodNotAllowed("GET", "HEAD");

export { openApiResponse as GET, refuse as DELETE, refuse as OPTIONS, refuse as PATCH, refuse as POST, refuse as PUT };
