import { handleRest } from "#server/http/rest/rest.ts";

export {
  handleRest as DELETE,
  handleRest as GET,
  handleRest as HEAD,
  handleRest as OPTIONS,
  handleRest as PATCH,
  handleRest as POST,
  handleRest as PUT,
};
