import { dictionary, parseJson } from "#server/shared/json-text.ts";
import { anyCase } from "#server/workflow/resolve-expressions.ts";
import type { GraphNode } from "#server/workflow/schema.ts";

type Trigger = Pick<GraphNode, "data"> | undefined;

/** Returns the text of an HTTP call's body by its value. */
export const bodyText = (body: unknown): string =>
  typeof body === "string" ? body : body === undefined || body === null ? "" : JSON.stringify(body);

function bodyTextIn(input: string): string {
  try {
    return bodyText(Object(parseJson(input)).body);
  } catch {
    return "";
  }
}

const isHttp = (trigger: Trigger): boolean => trigger?.data.kind === "http";
const isWebhook = (trigger: Trigger): boolean => trigger?.data.kind === "webhook";

/** Names of the fields, besides `output`, that expressions can read of the trigger. */
export function triggerFieldNames(trigger: Trigger): string[] {
  if (isWebhook(trigger)) return ["headers", "raw"];
  if (isHttp(trigger)) return ["raw"];
  const parameters: unknown = trigger?.data.parameters;
  return Array.isArray(parameters) ? parameters.map((parameter) => String(parameter?.name)) : [];
}

/** Returns the values of a form by its input; empty for a run that was started in another way. */
export function formValues(input: string): Record<string, unknown> {
  try {
    const values = parseJson(input);
    return values !== null && typeof values === "object" && !Array.isArray(values) ? { ...values } : {};
  } catch {
    return {};
  }
}

/**
 * Fields that expressions read of the trigger in a run. A form keeps its values in `params`, which are its input as well. A webhook
 * keeps the headers of its delivery there, and the payload as sent where that differs from the input; an HTTP trigger keeps its body
 * as sent where the input does not give it.
 */
export function triggerFields(
  trigger: Trigger,
  { input, params }: { input: string; params: Readonly<Record<string, unknown>> },
): Record<string, unknown> {
  if (isHttp(trigger))
    return {
      get raw() {
        return typeof params.raw === "string" ? params.raw : bodyTextIn(input);
      },
      output: input,
    };
  if (!isWebhook(trigger)) return { ...params, output: input };
  const headers = typeof params.headers === "object" ? { ...params.headers } : {};
  return { headers: anyCase(dictionary(headers)), raw: typeof params.raw === "string" ? params.raw : input, output: input };
}
