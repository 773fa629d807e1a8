import { Usage, UsageInput } from "#server/features/usage/schema.ts";
import { getUsage } from "#server/features/usage/service.ts";
import { endpoint, router, viewerProcedure } from "#server/platform/rpc/trpc.ts";

const description = `Tokens and cost of the project's agents, in runs (\`source\` run) and when they are tested or chatted with (chat), of knowledge's vectors (knowledge) and of the web app's assistant (assistant). A call \
is counted on the day (UTC) on which it ended, at the price of that day: the LLM key's own, else the built-in list's. A price that is \
not known is never taken as 0: such calls are counted in \`calls_without_price\`, and \`cost\` is without them. Costs are list prices \
of input and output tokens, without a vendor's discounts, taxes, embeddings, and calls that a cancellation cut off. They stay when \
executions are removed.`;

export const usageRouter = router({
  get: viewerProcedure
    .meta(endpoint("GET", "/usage", { tag: "Usage", summary: "Read tokens and cost", description }))
    .input(UsageInput)
    .output(Usage)
    .query(({ ctx, input }) => getUsage(ctx.principal, input)),
});
