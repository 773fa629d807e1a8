import { Play } from "lucide-react";
import type { NodeConfig, NodeUi, SentencePart } from "#components/workflow-editor/nodes/types.ts";
import { WEBHOOK_SENDERS } from "#components/workflow-editor/nodes/webhook-senders.ts";

type Config = NodeConfig<"triggerNode">;
type Kind = Config["kind"];

const MAX_CHIPS = 4;

/** Fields of each kind; what belongs to others keeps its value, and is not shown. */
const FIELDS: Record<Exclude<Kind, "webhook">, readonly string[]> = {
  manual: ["default_input", "input_label"],
  params: ["parameters"],
  schedule: ["cron_expression", "timezone", "active", "default_input"],
  http: ["allowed_methods", "response_mode", "error_status"],
};

const callsOf = (auth: Config["auth"]): string => WEBHOOK_SENDERS[auth].calls ?? `each call of ${WEBHOOK_SENDERS[auth].label}`;

/** Fields of a webhook: those of its sender, and the path. */
const webhookFields = ({ auth }: Config) => ["auth", ...(WEBHOOK_SENDERS[auth].fields ?? []), "payload_path"];

function asksFor(parameters: Config["parameters"]): SentencePart[] {
  if (parameters.length === 0) return ["Asks for ", { chip: "values", tone: "missing" }];
  const shown = parameters
    .slice(0, MAX_CHIPS)
    .flatMap(({ name, label }, index) => [index ? " " : "Asks for ", { chip: label || name || "…" }]);
  const rest = parameters.length - MAX_CHIPS;
  return rest > 0 ? [...shown, ` and ${rest} more`] : shown;
}

/** The card's sentence for each kind. */
const SENTENCES: Record<Kind, (config: Config) => SentencePart[]> = {
  manual: ({ input_label }) => ["Starts with ", input_label ? { chip: input_label } : { chip: "a text", tone: "quiet" }],
  params: ({ parameters }) => asksFor(parameters),
  webhook: ({ auth, payload_path }) => [
    `Starts at ${callsOf(auth)}, with `,
    payload_path.trim() ? { chip: payload_path.trim(), tone: "code" } : { chip: "the whole payload", tone: "quiet" },
  ],
  schedule: ({ cron_expression, timezone, active }) => [
    active ? "Starts " : "Switched off: would start ",
    cron_expression.trim() ? { cron: cron_expression.trim() } : { chip: "at a time", tone: "missing" },
    ...(cron_expression.trim() ? [", ", { chip: timezone }] : []),
  ],
  http: ({ allowed_methods, response_mode }) => [
    "Starts at ",
    ...(allowed_methods.length
      ? allowed_methods.flatMap((method, index) => [index ? " " : "", { chip: method, tone: "code" as const }])
      : [{ chip: "a method", tone: "missing" as const }]),
    response_mode === "sync" ? " and answers with the result" : " and answers at once",
  ],
};

export const triggerNodeUi: NodeUi<"triggerNode"> = {
  icon: Play,
  role: "interface",
  choices: {
    kind: {
      manual: { label: "A text", description: "A person or the API gives one text" },
      params: { label: "A form", description: "Named values with types and defaults" },
      schedule: { label: "A schedule", description: "The clock starts it, again and again" },
      webhook: { label: "A webhook", description: "Another service calls, with a signature" },
      http: { label: "An HTTP call", description: "A call with an API key, which may wait for the result" },
    },
    auth: WEBHOOK_SENDERS,
    response_mode: {
      async: { label: "At once", description: "202 with the id of the run" },
      sync: { label: "With the result", description: "When the run ends; 202 after 60 s" },
    },
  },
  fields: (config) =>
    ["kind", ...(config.kind === "webhook" ? webhookFields(config) : FIELDS[config.kind])].filter(
      (name) => name !== "error_status" || config.response_mode === "sync",
    ),
  sentence: (config) => SENTENCES[config.kind](config),
};
