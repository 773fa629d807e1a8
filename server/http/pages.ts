import { searchGuide } from "#server/features/assistant/guide.ts";
import { authOptions } from "#server/features/identity/auth-options.ts";
import { answerApi } from "#server/http/api.ts";
import { createContext } from "#server/http/trpc/context.ts";
import { createCaller } from "#server/http/trpc/root.ts";
import { nonceOf, sameOriginPath } from "#server/platform/auth/request-origin.ts";
import { appErrorOf } from "#server/platform/rpc/trpc.ts";

/** The API as the visitor of a page, called in process. */
async function callerOf(headers: Headers) {
  const context = await createContext(new Request("http://localhost/", { headers }), { keyNeeds: { scope: "read" } });
  return { caller: createCaller(context), principal: context.principal };
}

/** What the pages and route handlers of app/ have of the server at run time. They come to it through app/server.ts alone. */
export const forPages = { answerApi, appErrorOf, authOptions, callerOf, nonceOf, sameOriginPath, searchGuide };
