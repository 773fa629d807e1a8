import { spawn } from "node:child_process";
import { join } from "node:path";
import type { McpCall } from "#e2e/fakes/mcp-server.ts";
import { until } from "#e2e/until.ts";

/** The MCP server of `e2e/fakes`, as a process of its own. */
export interface McpProcess {
  /** Without a path; see the stand-in for those that it has. */
  url: string;
  state(): Promise<{ calls: McpCall[]; sessions: number }>;
  dropSessions(): Promise<void>;
  stop(): Promise<void>;
}

/** @param port where to listen; left out, where the system chooses */
export async function startMcpProcess(port = 0): Promise<McpProcess> {
  const file = join(import.meta.dirname, "fakes/mcp-server.ts");
  const child = spawn(process.execPath, [file, "--port", String(port)], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  const url = await until(() => /answers at (\S+)/.exec(printed)?.[1]);
  return {
    url,
    state: async () => (await fetch(`${url}/_calls`)).json(),
    dropSessions: async () => void (await fetch(`${url}/_drop`, { method: "POST" })),
    async stop() {
      child.kill();
      await ended;
    },
  };
}
