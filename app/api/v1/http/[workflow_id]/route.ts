import { httpTrigger } from "#server/http/streams/http-trigger.ts";

export { httpTrigger as DELETE, httpTrigger as GET, httpTrigger as HEAD, httpTrigger as PATCH, httpTrigger as POST, httpTrigger as PUT };
