import { searchGuide } from "#server/features/assistant/guide.ts";
import { authOptions, serviceAnswerPage } from "#server/features/identity/auth-options.ts";
import { answerApi } from "#server/http/api.ts";
import { createContext } from "#server/http/trpc/context.ts";
import { createCaller } from "#server/http/trpc/root.ts";
import { nonceOf, sameOriginPath } from "#server/platform/auth/request-origin.ts";
import { DeferredTexts } from "#server/platform/deferred-texts.ts";
import { appErrorOf } from "#server/platform/rpc/trpc.ts";
import { appUrl } from "#server/platform/settings.ts";

const contextOf = (headers: Headers) => createContext(new Request("http://localhost/", { headers }), { keyNeeds: { scope: "read" } });

/** The API as the visitor of a page, called in process. */
async function callerOf(headers: Headers) {
  const context = await contextOf(headers);
  return { caller: createCaller(context), principal: context.principal };
}

/** Reads what a page shows. Returns null where it has a text too long to be part of a page, which then is loaded by the browser. */
async function readForPage<Result>(
  headers: Headers,
  read: (caller: ReturnType<typeof createCaller>) => Promise<Result>,
): Promise<Result | null> {
  const texts = new DeferredTexts();
  const result = await read(createCaller({ ...(await contextOf(headers)), texts }));
  return texts.isEmpty ? result : null;
}

/** The address of the install where that is HTTPS: browsers keep its cookies there only. */
const secureUrl = (): string | null => (appUrl().startsWith("https:") ? appUrl() : null);

/** What the pages and route handlers of app/ have of the server at run time. They come to it through app/server.ts alone. */
export const forPages = {
  answerApi,
  appErrorOf,
  authOptions,
  callerOf,
  nonceOf,
  readForPage,
  sameOriginPath,
  searchGuide,
  secureUrl,
  serviceAnswerPage,
};
