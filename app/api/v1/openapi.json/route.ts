import { openApiResponse } from "#server/http/openapi/openapi.ts";
import { methodNotAllowed } from "#server/http/rest/api-route.ts";

const refuse = methodNotAllowed("GET", "HEAD");

export { openApiResponse as GET, refuse as DELETE, refuse as OPTIONS, refuse as PATCH, refuse as POST, refuse as PUT };
