import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { configuredReach } from "#server/net/guard.ts";
import { mcpFailure } from "#server/tools/mcp/mcp-errors.ts";

test("a header that a server echoes where its words are cut is told neither whole nor in part", () => {
  const secret = "tok-7f3a9b2c5d8e";
  const endpoint: Parameters<typeof mcpFailure>[1] = {
    name: "Mill",
    url: "https://mcp.example.com/mcp",
    transport: "streamable_http",
    reach: configuredReach(),
    headers: { authorization: `Bearer ${secret}` },
  };
  for (let before = 280; before <= 300; before++) {
    const { message } = mcpFailure(new McpError(-32_603, `${"x".repeat(before)}${secret} was not taken`), endpoint);
    expect(message).toMatch(/^The MCP server "Mill" refused: xxx/);
    expect(message).not.toContain("tok");
  }
});
