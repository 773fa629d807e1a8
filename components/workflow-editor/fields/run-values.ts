import type { ExecutionView } from "#server/runs/schema.ts";
import { booleanOf } from "#server/workflow/nodes/params.ts";
import type { TriggerParameter } from "#server/workflow/nodes/trigger-node.ts";

/** A parameter's default as the text of its field. */
export function initialText({ type, default: value, options }: TriggerParameter): string {
  if (type === "boolean") return String(booleanOf(value) ?? false);
  if (value === undefined || value === null) return "";
  if (type === "select") return options?.includes(String(value)) ? String(value) : "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What an earlier run was given, as the texts of the form's fields; nothing of a run that was started in another way. */
export function textsOf(input: string, { kind, parameters }: { kind: string; parameters: TriggerParameter[] }): Record<string, string> {
  if (kind !== "params") return input === "" ? {} : { input };
  try {
    const values: unknown = JSON.parse(input);
    if (values === null || typeof values !== "object" || Array.isArray(values)) return {};
    const known = Object.entries(values).filter(
      ([name, value]) => value !== null && parameters.some((parameter) => parameter.name === name),
    );
    return Object.fromEntries(known.map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]));
  } catch {
    return {};
  }
}

/**
 * Returns the input of a run for another run to start from: of a webhook the payload as sent where that is JSON, else, as of a
 * form, what the trigger made of it.
 */
export function inputToRepeat({ graph, params, execution: { input } }: Pick<ExecutionView, "graph" | "params" | "execution">): string {
  const isWebhook = graph.nodes.some(({ type, data }) => type === "triggerNode" && data.kind === "webhook");
  return isWebhook && typeof params.raw === "string" && /^\s*[[{"]/.test(params.raw) ? params.raw : input;
}

/** What was typed as a value of the parameter's type, or why it is none. Nothing typed is `undefined`: the default then holds. */
export function coerceParameter(
  { type, required, default: fallback }: TriggerParameter,
  text: string,
): { value: unknown } | { error: string } {
  const typed = text.trim();
  if (type === "boolean") return { value: typed === "true" };
  if (typed === "") return required && (fallback === undefined || fallback === "") ? { error: "Fill this in." } : { value: undefined };
  if (type === "number") {
    const number = Number(typed.replace(",", "."));
    return Number.isFinite(number) ? { value: number } : { error: `"${typed}" is no number.` };
  }
  if (type === "text" || type === "select") return { value: text };
  try {
    const value: unknown = JSON.parse(typed);
    const isRight = type === "array" ? Array.isArray(value) : value !== null && typeof value === "object" && !Array.isArray(value);
    return isRight ? { value } : { error: type === "array" ? "Write a JSON list, e.g. [1, 2]." : 'Write a JSON object, e.g. {"a": 1}.' };
  } catch {
    return { error: "This is not valid JSON." };
  }
}
