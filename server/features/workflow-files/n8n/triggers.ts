import { METHODS } from "#server/features/workflow-files/n8n/http.ts";
import type { Reading } from "#server/features/workflow-files/n8n/javascript.ts";
import { at, base, type Json, langchain, numberIn, type SourceNode, shown, wordOf } from "#server/features/workflow-files/n8n/source.ts";
import { after, outputOf, rows, type Step, slug } from "#server/features/workflow-files/n8n/step.ts";
import type { PathPart } from "#server/workflow/expressions.ts";

// What starts a workflow of n8n, as the one trigger of a workflow here.

export interface TriggerKind {
  /** Of several in one file the one with the highest starts the workflow; the others become notes. */
  rank: number;
  data(step: Step, timezone: string): Json;
  reads?(source: SourceNode, path: readonly PathPart[]): Reading | undefined;
}

const fromTrigger = (path: readonly PathPart[]): Reading => outputOf("trigger", path);

/** Whether a webhook of n8n can be one here: it takes POST and answers at once. */
const answersAtOnce = ({ parameters: p }: SourceNode) =>
  at(p, "httpMethod") === "POST" && wordOf(at(p, "responseMode"), "onReceived") === "onReceived";

const webhook: TriggerKind = {
  rank: 6,
  data(step) {
    const p = step.source.parameters;
    if (!answersAtOnce(step.source)) {
      const methods = [at(p, "httpMethod") ?? "GET"]
        .flat()
        .filter((method) => typeof method === "string" && method !== "HEAD" && METHODS.includes(method));
      step.toDo("Its URL is different here, and callers need an API key of an editor.");
      return {
        kind: "http",
        allowed_methods: methods.length ? methods : ["POST"],
        response_mode: wordOf(at(p, "responseMode"), "onReceived") === "onReceived" ? "async" : "sync",
      };
    }
    const how = wordOf(at(p, "authentication"), "none");
    step.toDo("Set the webhook up here, and give its new URL to the callers.");
    if (how === "none")
      step.toDo("As in n8n, anybody who knows the address can start it. Better: choose how the sender proves who it is.", "auth");
    return {
      kind: "webhook",
      auth: how === "basicAuth" ? "basic" : how === "none" ? "none" : how === "headerAuth" ? "header" : "signature",
    };
  },
  reads(source, path) {
    if (!answersAtOnce(source)) return fromTrigger(path);
    const body = after(path, "body");
    return path.length === 0 || body ? fromTrigger(body ?? []) : undefined;
  },
};

/** The fields of a form, each with a name that an expression can read. */
function formFields({ parameters: p }: SourceNode) {
  const taken = new Set<string>();
  return rows(at(p, "formFields", "values") ?? at(p, "workflowInputs", "values"))
    .slice(0, 50)
    .map((row) => {
      const label = wordOf(at(row, "fieldLabel"), wordOf(at(row, "name"), wordOf(at(row, "fieldName"))));
      const wanted = slug(label) || "value";
      let name = wanted;
      for (let number = 2; taken.has(name); number++) name = `${wanted.slice(0, 56)}_${number}`;
      taken.add(name);
      return { name, label, row };
    });
}

const FORM_TYPES: Readonly<Record<string, string>> = { number: "number", boolean: "boolean", array: "array", object: "object" };

const form: TriggerKind = {
  rank: 5,
  data(step) {
    const parameters = formFields(step.source).map(({ name, label, row }) => {
      const options = rows(at(row, "fieldOptions", "values"))
        .map((one) => wordOf(at(one, "option")).slice(0, 200))
        .filter(Boolean);
      const type = wordOf(at(row, "fieldType"), wordOf(at(row, "type"), "text"));
      if (type === "file") step.toDo(`n8n took a file as “${label.slice(0, 100)}”. Here it is a text.`, "parameters");
      const kind = options.length ? "select" : Object.hasOwn(FORM_TYPES, type) ? FORM_TYPES[type] : "text";
      return {
        name,
        label: label.slice(0, 120),
        type: kind,
        required: at(row, "requiredField") === true,
        ...(options.length && { options }),
      };
    });
    return parameters.length ? { kind: "params", parameters } : { kind: "manual" };
  },
  reads(source, path) {
    const [first, ...rest] = path;
    const fields = formFields(source);
    if (first === undefined || fields.length === 0) return fromTrigger(path);
    const field = fields.find(({ label }) => label === first);
    return field && { head: "trigger", field: field.name, path: rest };
  },
};

const number = (value: unknown, otherwise: number): number =>
  typeof value === "number" && Number.isFinite(value) ? Math.floor(value) : otherwise;
const every = (count: number) => (count > 1 ? `*/${count}` : "*");

/** Units whose intervals cron starts anew each hour, day or year: an interval is exact when it divides this number. */
const CYCLES: ReadonlyMap<string, number> = new Map([
  ["minutes", 60],
  ["everyX minutes", 60],
  ["everyX hours", 24],
  ["hours", 24],
  // No number of days or weeks divides every month.
  ["days", 1],
  ["weeks", 1],
  ["months", 12],
]);

/** Returns an interval of a Schedule Trigger that a cron expression does not keep, as `2 weeks`; undefined for an exact one. */
function inexactInterval(rule: unknown, isOld: boolean): string | undefined {
  const unit = isOld ? wordOf(at(rule, "mode"), "everyDay") : wordOf(at(rule, "field"), "days");
  const what = unit === "everyX" ? wordOf(at(rule, "unit"), "hours") : unit;
  const count = number(at(rule, isOld ? "value" : `${unit}Interval`), unit === "minutes" ? 5 : 1);
  const cycle = CYCLES.get(unit === "everyX" ? `everyX ${what}` : unit);
  return cycle === undefined || count <= 1 || cycle % count === 0 ? undefined : `${count} ${what}`;
}

/**
 * One rule of a Schedule Trigger as a cron expression of five fields; undefined for what that cannot say.
 * @param isOld of the older Cron, which has other names and defaults
 */
function cronOf(rule: unknown, isOld: boolean): string | undefined {
  const cron = wordOf(at(rule, "expression"), wordOf(at(rule, "cronExpression")))
    .replace(/^=/, "")
    .trim()
    .split(/\s+/);
  const unit = isOld ? wordOf(at(rule, "mode"), "everyDay") : wordOf(at(rule, "field"), "days");
  const minute = number(at(rule, "triggerAtMinute") ?? at(rule, "minute"), 0);
  const hour = number(at(rule, "triggerAtHour") ?? at(rule, "hour"), isOld ? 14 : 0);
  const days = [at(rule, "triggerAtDay") ?? at(rule, "weekday") ?? 0].flat().map((day) => number(numberIn(day), 0) % 7);
  const month = number(at(rule, "triggerAtDayOfMonth") ?? at(rule, "dayOfMonth"), 1);
  switch (unit) {
    case "cronExpression":
    case "custom":
      return cron.length === 6 ? cron.slice(1).join(" ") : cron.length === 5 ? cron.join(" ") : undefined;
    case "minutes":
      return `${every(number(at(rule, "minutesInterval"), 5))} * * * *`;
    case "everyX":
      return at(rule, "unit") === "minutes"
        ? `${every(number(at(rule, "value"), 5))} * * * *`
        : `0 ${every(number(at(rule, "value"), 1))} * * *`;
    case "hours":
      return `${minute} ${every(number(at(rule, "hoursInterval"), 1))} * * *`;
    case "everyHour":
      return `${minute} * * * *`;
    case "days":
      return `${minute} ${hour} ${every(number(at(rule, "daysInterval"), 1))} * *`;
    case "everyDay":
      return `${minute} ${hour} * * *`;
    case "weeks":
    case "everyWeek":
      return `${minute} ${hour} * * ${[...new Set(days)].join(",")}`;
    case "months":
    case "everyMonth":
      return `${minute} ${hour} ${month} ${every(number(at(rule, "monthsInterval"), 1))} *`;
    default:
      return undefined;
  }
}

const schedule: TriggerKind = {
  rank: 4,
  data(step, timezone) {
    const p = step.source.parameters;
    const rules = [...rows(at(p, "rule", "interval")), ...rows(at(p, "triggerTimes", "item"))];
    const isOld = step.source.type === "n8n-nodes-base.cron";
    const cron = cronOf(rules[0], isOld);
    if (cron === undefined) step.toDo(`n8n ran it by “${shown(rules[0]).slice(0, 200)}”. Say when it runs.`, "cron_expression");
    const inexact = inexactInterval(rules[0], isOld);
    if (inexact !== undefined)
      step.toDo(
        `n8n ran it every ${inexact}, which a cron expression cannot say: this one runs more often or at other times. Put a Branch behind it that goes on only when it is due, or choose other times.`,
        "cron_expression",
      );
    if (rules.length > 1)
      step.toDo(
        `n8n had ${rules.length} times here, and this is the first. Put the others into one cron expression, or into a workflow of their own.`,
        "cron_expression",
      );
    return { kind: "schedule", cron_expression: cron ?? "", ...(timezone && { timezone }) };
  },
  reads: () => undefined,
};

const byHand: TriggerKind = { rank: 1, data: () => ({ kind: "manual" }), reads: (_, path) => fromTrigger(path) };

const chat: TriggerKind = {
  rank: 5,
  data: () => ({ kind: "manual", input_label: "Message" }),
  reads: (_, path) => (path.length === 0 || path[0] === "chatInput" ? fromTrigger(path.slice(1)) : undefined),
};

const onError: TriggerKind = {
  rank: 3,
  data(step) {
    step.toDo(
      "Choose this workflow as the error workflow of another one, or of the project. Its input is JSON with workflow, failed_node, error and url.",
    );
    return { kind: "manual" };
  },
  reads(_, path) {
    const known: readonly (readonly [from: readonly PathPart[], to: readonly PathPart[]])[] = [
      [["execution", "error", "message"], ["error"]],
      [
        ["execution", "lastNodeExecuted"],
        ["failed_node", "label"],
      ],
      [["execution", "url"], ["url"]],
      [["execution", "id"], ["execution_id"]],
      [["workflow"], ["workflow"]],
    ];
    for (const [from, to] of known) {
      const rest = after(path, ...from);
      if (rest) return fromTrigger([...to, ...rest]);
    }
    return undefined;
  },
};

/** A service that calls a webhook, and how it proves who it is. */
const sender = (service: string, auth: Json): TriggerKind => ({
  rank: 6,
  data(step) {
    step.toDo(`n8n told ${service} by itself where to call. Set the webhook up here, and give its address to ${service}.`);
    return { kind: "webhook", ...auth };
  },
  reads(_, path) {
    return fromTrigger(after(path, "body") ?? path);
  },
});

/** A trigger that there is not here: something has to start the workflow in its place. */
const unknownTrigger: TriggerKind = {
  rank: 2,
  data(step) {
    const what = step.source.type.split(".").at(-1) ?? step.source.type;
    step.toDo(`n8n started it by “${what}”, which is not here. Let that service call a webhook, or look on a schedule by an HTTP node.`);
    return { kind: "manual" };
  },
  reads: (_, path) => fromTrigger(path),
};

const TRIGGERS: ReadonlyMap<string, TriggerKind> = new Map([
  [base("webhook"), webhook],
  [base("formTrigger"), form],
  [base("scheduleTrigger"), schedule],
  [base("cron"), schedule],
  [base("manualTrigger"), byHand],
  [base("start"), byHand],
  [base("executeWorkflowTrigger"), { ...form, rank: 3 }],
  [base("errorTrigger"), onError],
  [langchain("chatTrigger"), chat],
  [langchain("manualChatTrigger"), chat],
  [base("githubTrigger"), sender("GitHub", { auth: "github" })],
  [base("gitlabTrigger"), sender("GitLab", { auth: "gitlab" })],
  [base("shopifyTrigger"), sender("Shopify", { auth: "shopify" })],
  [base("linearTrigger"), sender("Linear", { auth: "linear" })],
  [base("trelloTrigger"), sender("Trello", { auth: "trello" })],
  [base("stripeTrigger"), sender("Stripe", { auth: "stripe" })],
  [base("slackTrigger"), sender("Slack", { auth: "slack" })],
  [base("telegramTrigger"), sender("Telegram", { auth: "header", auth_header: "X-Telegram-Bot-Api-Secret-Token" })],
]);

/** What a trigger of n8n becomes; undefined for a node that is none. */
export const triggerKindOf = ({ type }: SourceNode): TriggerKind | undefined =>
  TRIGGERS.get(type) ?? (/Trigger$|\.(?:emailReadImap|interval)$/.test(type) ? unknownTrigger : undefined);
