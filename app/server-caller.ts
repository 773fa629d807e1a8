import { headers } from "next/headers";
import { cache } from "react";
import { createContext } from "#server/http/context.ts";
import { createCaller } from "#server/http/root.ts";

/** The API as the visitor of this page, called in process; once per request. */
export const serverCaller = cache(async () => {
  const context = await createContext(new Request("http://localhost/", { headers: await headers() }), { keyNeeds: { scope: "read" } });
  return { caller: createCaller(context), principal: context.principal };
});
