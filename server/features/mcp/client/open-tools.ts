import { type McpEndpoint, withoutSecrets } from "#server/features/mcp/client/endpoint.ts";
import { mcpFailure, statusOf } from "#server/features/mcp/client/errors.ts";
import { isSessionGone, type McpSession, openSession, type SessionLimits } from "#server/features/mcp/client/session.ts";
import { answerOf, type ToolPage, toolIn } from "#server/features/mcp/client/shapes.ts";
import type { McpTool } from "#server/features/mcp/schema.ts";
import type { ToolAnswer } from "#server/llm/tools/tool.ts";
import { orAborted } from "#server/platform/abort.ts";
import { settings } from "#server/platform/settings.ts";

/** Most tools that are taken over from one server, and most pages that are asked for. */
const MAX_TOOLS = 500;
const MAX_PAGES = 50;
/** Most characters of JSON of them all. */
const MAX_LIST = 4 * 1024 * 1024;

/** Tools that a server listed. */
export interface ListedTools {
  tools: McpTool[];
  /** A sentence about a later page that could not be read; the tools of the pages before it came. */
  missing?: string;
}

/** The tools of one server. Nothing is connected until something is asked. */
export interface McpTools {
  /**
   * Every tool that the server offers, those that are switched off too.
   * @throws AppError UPSTREAM_ERROR with a sentence; the signal's reason
   */
  list(signal?: AbortSignal): Promise<ListedTools>;
  /**
   * Calls a tool; calls may run side by side. A failure of the tool or of the connection is an answer.
   * @throws the signal's reason
   */
  call(name: string, args: unknown, signal?: AbortSignal): Promise<ToolAnswer>;
  /** Ends the session; whoever opened it must call this. */
  close(): Promise<void>;
}

/** A session, or one that is being opened, with how many requests are under way on it. */
interface Held {
  opening: Promise<McpSession>;
  /** Once it is open. */
  session: McpSession | undefined;
  users: number;
}

async function allTools(session: McpSession, endpoint: McpEndpoint, signal?: AbortSignal): Promise<ListedTools> {
  const found = new Map<string, McpTool>();
  let cursor: string | undefined;
  let length = 0;
  for (let page = 0; page < MAX_PAGES && found.size < MAX_TOOLS && length <= MAX_LIST; page += 1) {
    let listed: ToolPage;
    try {
      listed = await session.listPage(cursor, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (page === 0) throw error;
      const { message } = mcpFailure(error, endpoint);
      return { tools: [...found.values()], missing: `Page ${page + 1} of the list of tools is missing, and what follows it: ${message}` };
    }
    const { tools, nextCursor } = listed;
    for (const value of tools) {
      if (found.size >= MAX_TOOLS) break;
      const tool = toolIn(value);
      length += tool ? JSON.stringify(tool).length : 0;
      if (length > MAX_LIST) break;
      if (tool) found.set(tool.name, tool);
    }
    // An empty cursor is how many servers end the list.
    if (typeof nextCursor !== "string" || nextCursor === "" || nextCursor === cursor) break;
    cursor = nextCursor;
  }
  return { tools: [...found.values()] };
}

const limitsFromSettings = (): SessionLimits => ({
  connectSeconds: settings().MCP_CONNECT_SECONDS,
  callSeconds: settings().MCP_CALL_SECONDS,
});

/**
 * Opens the tools of one MCP server. A session that the server has dropped is made anew once, and the call repeated:
 * only when the server cannot have begun with it. Safe in any process; holds no state outside the returned object.
 */
export function openMcpTools(endpoint: McpEndpoint, limits: SessionLimits = limitsFromSettings()): McpTools {
  let current: Held | undefined;

  /** A session that was left is closed by the last who uses it, not under the others. */
  const closeUnused = (held: Held) => {
    if (held !== current && held.users === 0) void held.session?.close();
  };

  const leave = (held: Held) => {
    if (current === held) current = undefined;
    closeUnused(held);
  };

  const hold = (): Held => {
    if (current?.session?.isOpen() === false) leave(current);
    if (current) return current;
    const held: Held = { opening: openSession(endpoint, limits), users: 0, session: undefined };
    held.opening.then(
      (session) => {
        held.session = session;
        closeUnused(held);
      },
      () => leave(held),
    );
    current = held;
    return held;
  };

  async function use<Result>(held: Held, run: (session: McpSession) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    held.users += 1;
    try {
      // Opening is not ended by one caller's signal: others may wait for the same session.
      return await run(await orAborted(held.opening, signal));
    } finally {
      held.users -= 1;
      closeUnused(held);
    }
  }

  async function withSession<Result>(run: (session: McpSession) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    const held = hold();
    const wasOpen = held.session !== undefined;
    try {
      return await use(held, run, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!isSessionGone(error, statusOf(error))) throw error;
      leave(held);
      if (!wasOpen) throw error; // made just now: the refusal is about the request
      return use(hold(), run, signal);
    }
  }

  return {
    list: (signal) =>
      withSession((open) => allTools(open, endpoint, signal), signal).catch((error: unknown) => {
        signal?.throwIfAborted();
        throw mcpFailure(error, endpoint);
      }),
    async call(name, args, signal) {
      if (endpoint.disabledTools?.includes(name)) return { result: `The tool ${name} is switched off in this project.`, success: false };
      if (typeof args !== "object" || args === null || Array.isArray(args))
        return { result: "The arguments must be a JSON object.", success: false };
      try {
        const { result, success } = answerOf(
          await withSession((open) => open.callTool(name, args as Record<string, unknown>, signal), signal), // cast: checked above
        );
        return { result: withoutSecrets(result, endpoint), success };
      } catch (error) {
        signal?.throwIfAborted();
        return { result: mcpFailure(error, endpoint).message, success: false };
      }
    },
    async close() {
      const held = current;
      current = undefined;
      const opened = await held?.opening.catch(() => undefined);
      await opened?.close();
    },
  };
}
