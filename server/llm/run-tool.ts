import type { WireToolCall } from "#server/llm/tool-calls.ts";
import { type AgentToolDefinition, cutResult, type ToolAnswer } from "#server/llm/tools/tool.ts";
import { isAppError, isDatabaseAway } from "#server/platform/errors.ts";
import { orAborted } from "#server/platform/follow.ts";
import { log } from "#server/platform/log.ts";

const TIMEOUT_MS = 90_000;

const failed = (result: string): ToolAnswer => ({ result, success: false });

/**
 * Runs one tool call. Whatever goes wrong is an answer that the model can read and act on.
 * @throws the signal's reason when it fires; the error of a database that is away, which is no fault of the call
 */
export async function runTool(call: WireToolCall, tools: readonly AgentToolDefinition[], signal: AbortSignal): Promise<ToolAnswer> {
  const tool = tools.find(({ name }) => name === call.name);
  if (!tool) return failed(`There is no tool named "${call.name}". The tools are: ${tools.map(({ name }) => name).join(", ")}.`);
  if (call.isMalformed) return failed("The arguments were not a JSON object. Call the tool again with arguments that follow its schema.");
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  const either = AbortSignal.any([signal, limit]);
  try {
    const { result, ...rest } = await orAborted(tool.call(call.args, { signal: either }), either);
    return { result: cutResult(result) || "(The tool answered with nothing.)", ...rest };
  } catch (error) {
    signal.throwIfAborted();
    if (limit.aborted) return failed(`The tool did not answer within ${TIMEOUT_MS / 1000} seconds.`);
    if (isDatabaseAway(error)) throw error;
    if (isAppError(error)) return failed(error.message);
    log.error({ err: error, tool: call.name }, "a tool failed for a reason of ours");
    return failed("The tool failed for a reason of ours, not because of its arguments.");
  }
}
