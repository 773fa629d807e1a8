import { buildTools } from "#server/features/assistant/build-tools.ts";
import type { AssistantTool } from "#server/features/assistant/define-tool.ts";
import { runTools } from "#server/features/assistant/run-tools.ts";
import type { MessageMode } from "#server/features/assistant/schema.ts";

const TOOLS: readonly AssistantTool[] = [...buildTools, ...runTools];

/** What the model is offered, `ask_user` aside: to look at things, and where it may build also to change and run them. */
export const assistantTools = (mode: MessageMode): readonly AssistantTool[] =>
  mode === "build" ? TOOLS : TOOLS.filter(({ isReading }) => isReading);
