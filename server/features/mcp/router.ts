import {
  CreateMcpServerInput,
  DiscoverMcpInput,
  McpServerDetail,
  McpServerPage,
  McpServerRef,
  McpTools,
  UpdateMcpServerInput,
} from "#server/features/mcp/schema.ts";
import {
  createMcpServer,
  deleteMcpServer,
  discoverMcp,
  getMcpServer,
  listMcpServers,
  refreshMcpServer,
  updateMcpServer,
} from "#server/features/mcp/service.ts";
import { editorProcedure, endpoint, router, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { ListInput, NoContent } from "#server/shared/primitives-schema.ts";

const tag = "MCP servers";
const live = "Connects and lists the tools; when that fails the answer is 502 with the reason and nothing is saved.";

export const mcpRouter = router({
  list: viewerProcedure
    .meta(endpoint("GET", "/mcp", { tag, summary: "List the connected MCP servers" }))
    .input(ListInput)
    .output(McpServerPage)
    .query(({ ctx, input }) => listMcpServers(ctx.principal, input)),
  create: editorProcedure
    .meta(endpoint("POST", "/mcp", { tag, summary: "Connect an MCP server", description: live, status: 201 }))
    .input(CreateMcpServerInput)
    .output(McpServerDetail)
    .mutation(({ ctx, input }) => createMcpServer(ctx.principal, input)),
  get: viewerProcedure
    .meta(
      endpoint("GET", "/mcp/{mcp_id}", { tag, summary: "Read an MCP server", description: "With the tools that it had when last asked." }),
    )
    .input(McpServerRef)
    .output(McpServerDetail)
    .query(({ ctx, input }) => getMcpServer(ctx.principal, input)),
  update: editorProcedure
    .meta(
      endpoint("PUT", "/mcp/{mcp_id}", {
        tag,
        summary: "Change an MCP server",
        description: `Fields left out keep their value. A change of address, transport or headers connects first. ${live}`,
      }),
    )
    .input(UpdateMcpServerInput)
    .output(McpServerDetail)
    .mutation(({ ctx, input }) => updateMcpServer(ctx.principal, input)),
  delete: editorProcedure
    .meta(
      endpoint("DELETE", "/mcp/{mcp_id}", {
        tag,
        summary: "Disconnect an MCP server",
        description: "409 while an agent uses it.",
        status: 204,
      }),
    )
    .input(McpServerRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => deleteMcpServer(ctx.principal, input)),
  refresh: editorProcedure
    .meta(
      endpoint("POST", "/mcp/{mcp_id}/refresh", {
        tag,
        summary: "List the tools of an MCP server again",
        description: "502 when it fails: the reason is kept as `last_error`, the tools stay as they were.",
      }),
    )
    .input(McpServerRef)
    .output(McpServerDetail)
    .mutation(({ ctx, input }) => refreshMcpServer(ctx.principal, input)),
  discover: editorProcedure
    .meta(
      endpoint("POST", "/mcp/discover", {
        tag,
        summary: "Discover the tools of an MCP endpoint",
        description: "Nothing is saved.",
        isIdempotent: false,
      }),
    )
    .input(DiscoverMcpInput)
    .output(McpTools)
    .mutation(({ ctx, input }) => discoverMcp(ctx.principal, input)),
});
