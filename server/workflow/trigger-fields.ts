import { dictionary } from "#server/shared/json-text.ts";
import { anyCase } from "#server/workflow/expressions.ts";
import type { GraphNode } from "#server/workflow/schema.ts";

type Trigger = Pick<GraphNode, "data"> | undefined;

const isWebhook = (trigger: Trigger): boolean => trigger?.data.kind === "webhook";

/** Names of the fields, besides `output`, that expressions can read of the trigger. */
export function triggerFieldNames(trigger: Trigger): string[] {
  if (isWebhook(trigger)) return ["headers", "raw"];
  const parameters: unknown = trigger?.data.parameters;
  return Array.isArray(parameters) ? parameters.map((parameter) => String(parameter?.name)) : [];
}

/**
 * Fields that expressions read of the trigger in a run. A webhook keeps the headers of its delivery in `params`, and the payload
 * as it was sent where that differs from the input.
 */
export function triggerFields(
  trigger: Trigger,
  { input, params }: { input: string; params: Readonly<Record<string, unknown>> },
): Record<string, unknown> {
  if (!isWebhook(trigger)) return { ...params, output: input };
  const headers = typeof params.headers === "object" ? { ...params.headers } : {};
  return { headers: anyCase(dictionary(headers)), raw: typeof params.raw === "string" ? params.raw : input, output: input };
}
