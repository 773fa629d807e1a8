import type { Metadata } from "next";
import { McpPage } from "#components/mcp/mcp-page.tsx";

export const metadata: Metadata = { title: "MCP servers" };

export default McpPage;
