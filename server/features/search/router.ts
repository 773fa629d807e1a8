import { SearchInput, SearchResult } from "#server/features/search/schema.ts";
import { search } from "#server/features/search/service.ts";
import { endpoint, router, viewerProcedure } from "#server/platform/rpc/trpc.ts";

export const searchRouter = router({
  find: viewerProcedure
    .meta(
      endpoint("GET", "/search", {
        tag: "Search",
        summary: "Search everything in the project",
        description:
          "Workflows with what stands in their nodes, agents, canvases, knowledge sources and titles of documents, skills, MCP servers, credentials and LLM keys by name only, runs by id or its beginning, and the guide.",
      }),
    )
    .input(SearchInput)
    .output(SearchResult)
    .query(({ ctx, input }) => search(ctx.principal, input)),
});
