import { methodNotAllowed } from "#server/http/rest/api-route.ts";
import { incomingWebhook } from "#server/http/streams/incoming-webhook.ts";

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
