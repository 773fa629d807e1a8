import { incomingWebhook } from "#server/api/incoming-webhook.ts";
import { methodNotAllowed } from "#server/api/rest/api-route.ts";

const refused = methodNotAllowed("POST");

export {
  incomingWebhook as POST,
  refused as DELETE,
  refused as GET,
  refused as HEAD,
  refused as OPTIONS,
  refused as PATCH,
  refused as PUT,
};
