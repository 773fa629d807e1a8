import type { Metadata } from "next";
import { McpServerPage } from "#components/mcp/mcp-server-page.tsx";

export const metadata: Metadata = { title: "MCP server" };

export default async function Page({ params }: { params: Promise<{ mcpId: string }> }) {
  const { mcpId } = await params;
  return <McpServerPage mcpId={mcpId} />;
}
