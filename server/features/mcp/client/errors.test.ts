import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { mcpFailure } from "#server/features/mcp/client/errors.ts";
import { withMask } from "#server/platform/mask-scope.ts";

const endpointOf = (headers: Record<string, string>): Parameters<typeof mcpFailure>[1] => ({
  name: "Mill",
  url: "https://mcp.example.com/mcp",
  transport: "streamable_http",
  reach: "private",
  headers,
});

test("a header that a server echoes where its words are cut is told neither whole nor in part", () => {
  const secret = "tok-7f3a9b2c5d8e";
  const endpoint = endpointOf({ authorization: `Bearer ${secret}` });
  for (let before = 280; before <= 300; before++) {
    const { message } = mcpFailure(new McpError(-32_603, `${"x".repeat(before)}${secret} was not taken`), endpoint);
    expect(message).toMatch(/^The MCP server "Mill" refused: xxx/);
    expect(message).not.toContain("tok");
  }
});

test("nor is a secret of the run that a tool was called with", () => {
  const secret = "tok-7f3a9b2c5d8e";
  for (let before = 280; before <= 300; before++) {
    const error = new McpError(-32_603, `${"x".repeat(before)}${secret} was not taken`);
    const { message } = withMask(
      (text) => text.replaceAll(secret, "••••"),
      () => mcpFailure(error, endpointOf({})),
    );
    expect(message).toMatch(/^The MCP server "Mill" refused: xxx/);
    expect(message).not.toContain("tok");
  }
});
