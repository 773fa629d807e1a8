import { AssistantChoice } from "#server/features/assistant/schema.ts";

export const AssistantForm = AssistantChoice;
