import { z } from "zod";
import { defineNode, type NodeProblem } from "#server/workflow/nodes/definition.ts";
import { defaultFault } from "#server/workflow/nodes/params.ts";

/** One value that a params trigger asks for (specification, Workflow node types; contract, section 4). */
export const TriggerParameter = z.object({
  name: z
    .string()
    .max(60)
    .regex(/^(?!__proto__$)[A-Za-z_][A-Za-z0-9_]*$/, "Use letters, digits and underscores, not starting with a digit.")
    .meta({ title: "Name", description: "Read as {{trigger.name}}" }),
  label: z.string().max(120).default("").meta({ title: "Label" }),
  type: z.enum(["text", "number", "boolean", "select", "array", "object"]).default("text").meta({ title: "Type" }),
  required: z.boolean().default(false).meta({ title: "Required" }),
  default: z.unknown().optional().meta({ title: "Default" }),
  options: z.array(z.string().max(200)).max(200).optional().meta({ title: "Options", description: "Choices of a select" }),
});
export type TriggerParameter = z.infer<typeof TriggerParameter>;

/** The methods that an HTTP trigger can take. */
export const HTTP_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** How the sender of a webhook proves who it is. */
export const WebhookAuth = z.enum([
  "signature",
  "github",
  "stripe",
  "slack",
  "meta",
  "zoom",
  "twilio",
  "shopify",
  "linear",
  "typeform",
  "gitlab",
  "trello",
  "dropbox",
  "microsoft_graph",
  "event_grid",
  "standard",
  "header",
  "basic",
  "none",
]);
export type WebhookAuth = z.infer<typeof WebhookAuth>;

function parameterProblems(parameters: readonly TriggerParameter[]): NodeProblem[] {
  const names = parameters.map((parameter) => parameter.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  const bare = parameters.find((parameter) => parameter.type === "select" && !parameter.options?.length);
  return [
    ...(parameters.length === 0 ? [{ field: "parameters", message: "Add at least one parameter, or start by a manual run." }] : []),
    ...(twice ? [{ field: "parameters", message: `Two parameters are named "${twice}". Rename one of them.` }] : []),
    ...parameters.flatMap((parameter) => {
      const message = parameter === bare ? undefined : defaultFault(parameter);
      return message === undefined ? [] : [{ field: "parameters", message }];
    }),
    ...(bare ? [{ field: "parameters", message: `Give "${bare.name}" at least one option to choose from.` }] : []),
  ];
}

/** True for a name that the time zone database of this machine knows. A bare offset such as +05:00 is no name. */
export function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
}

export const triggerNode = defineNode({
  type: "triggerNode",
  title: "Trigger",
  summary: "Starts the workflow",
  group: "trigger",
  hasInput: false,
  handles: null,
  isEffect: false,
  config: z.looseObject({
    kind: z.enum(["manual", "params", "webhook", "schedule", "http"]).default("manual").meta({
      title: "Starts by",
      description:
        "manual: a text; params: a form of named values; webhook: a signed call; schedule: the clock; http: a call with an API key",
    }),
    default_input: z.string().max(100_000).default("").meta({
      title: "Default input",
      description: "Used when a run gives none; of a schedule, the input of each run",
      widget: "textarea",
    }),
    input_label: z.string().max(120).default("").meta({ title: "Input label", description: "Label of the field in the run form" }),
    parameters: z.array(TriggerParameter).max(50).default([]).meta({ title: "Parameters", widget: "parameters" }),
    auth: WebhookAuth.default("signature").meta({
      title: "Sender",
      description:
        "How a webhook's caller proves who it is: signature (X-SERVICE-Signature), the way of a service (github to event_grid) or of Standard Webhooks, header (a secret in a header), basic (name and secret), none (no authentication). It also decides which questions about the address are answered",
    }),
    auth_header: z
      .string()
      .max(100)
      .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "Write the name of an HTTP header, such as X-Webhook-Token.")
      .default("X-Webhook-Token")
      .meta({ title: "Header", description: "Name of the header that holds the secret" }),
    auth_username: z
      .string()
      .max(200)
      .regex(/^[^:\p{Cc}]*$/u, "A name for HTTP Basic authentication has no colon.")
      .default("webhook")
      .meta({ title: "User name", description: "Name that the sender gives beside the secret" }),
    verify_token: z.string().max(200).default("").meta({
      title: "Verify token",
      description: "Text that Meta sends when it verifies the address. Enter the same one there. Exports leave it out.",
    }),
    payload_path: z.string().max(500).default("").meta({
      title: "Payload path",
      description: "JSONPath of the part of the payload to pass on, e.g. $.issue.title; empty passes on all",
    }),
    cron_expression: z
      .string()
      .max(120)
      .default("")
      .meta({ title: "Schedule", description: "Cron with five fields, e.g. 0 9 * * 1-5; at least 5 minutes apart", widget: "cron" }),
    timezone: z
      .string()
      .max(60)
      .default("UTC")
      .meta({ title: "Time zone", description: "IANA name, e.g. Europe/Berlin", widget: "timezone" }),
    active: z.boolean().default(true).meta({ title: "Active", description: "Off: the schedule does not fire" }),
    allowed_methods: z
      .array(z.enum(HTTP_METHODS))
      .max(HTTP_METHODS.length)
      .default(["POST"])
      .meta({ title: "Methods", description: "HTTP methods that start a run" }),
    response_mode: z
      .enum(["sync", "async"])
      .default("async")
      .meta({ title: "Answer", description: "sync: waits for the result; async: at once, with the id of the run" }),
    error_status: z.number().int().min(200).max(599).optional().meta({
      title: "Error status",
      description:
        "HTTP status of a sync response when the run does not complete; left out, 502 for a failed or cancelled run and 409 for a rejected one",
    }),
  }),
  problems({ kind, parameters, cron_expression, timezone, allowed_methods }) {
    if (kind === "params") return parameterProblems(parameters);
    if (kind === "http" && allowed_methods.length === 0) return [{ field: "allowed_methods", message: "Choose at least one method." }];
    if (kind !== "schedule") return [];
    return [
      ...(cron_expression.trim() === "" ? [{ field: "cron_expression", message: "Say when it runs, for example 0 9 * * 1-5." }] : []),
      ...(isTimezone(timezone)
        ? []
        : [{ field: "timezone", message: `There is no time zone "${timezone}". Use an IANA name such as UTC or Europe/Berlin.` }]),
    ];
  },
  run: ({ trigger }) => ({ output: trigger.output }),
});
