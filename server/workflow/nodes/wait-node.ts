import { z } from "zod";
import { referencesOf } from "#server/workflow/expressions.ts";
import { defineNode, type NodeContext, type NodeOutcome, type NodeProblem, onError, template } from "#server/workflow/nodes/definition.ts";
import { asText } from "#server/workflow/resolve-expressions.ts";
import { timeOf } from "#server/workflow/time-text.ts";

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
const MOST_SECONDS = 365 * 24 * 3600;
/** The last time that four digits of a year can say. */
const LAST_TIME = Date.UTC(9999, 11, 31);

const DONE = { output: "done", handle: "done" };
const TIMED_OUT = { output: "timed_out", handle: "timed_out" };

const config = z.looseObject({
  mode: z.enum(["for", "until", "callback"]).default("for").meta({ title: "Wait" }),
  seconds: z
    .number()
    .min(1)
    .max(MOST_SECONDS)
    .default(60)
    .meta({ title: "How long", description: "A year at most", widget: "duration", unit: "second" }),
  until: z
    .string()
    .max(1000)
    .default("")
    .meta({
      title: "Until",
      description: "Such as 2026-12-24T18:00:00Z, or seconds since 1970; a time that has passed is not waited for",
      widget: "moment",
      ...template,
    }),
  timeout_hours: z
    .number()
    .min(0.01)
    .max(24 * 366)
    .default(72)
    .meta({ title: "At most", description: "Without a call it then goes on by timed out", widget: "duration", unit: "hour" }),
  on_error: onError,
});

const isUntilWrong = (until: string): boolean => {
  const time = timeOf(until);
  return time === undefined || time.getTime() > LAST_TIME || time.getTime() < 0;
};

const shown = (text: string) => (text.trim() === "" ? "nothing" : `"${text.slice(0, 80).toWellFormed()}"`);

function problems({ mode, until }: z.infer<typeof config>): NodeProblem[] {
  if (mode !== "until") return [];
  if (until.trim() === "") return [{ field: "until", message: "Say until when, for example 2026-12-24T18:00:00Z." }];
  if (referencesOf(until).length || !isUntilWrong(until)) return [];
  return [{ field: "until", message: `${shown(until)} is no time. Write one such as 2026-12-24T18:00:00Z.` }];
}

function run({ config: { mode, seconds, until, timeout_hours }, now, callbackToken }: NodeContext<z.infer<typeof config>>): NodeOutcome {
  if (mode === "callback") {
    const deadline = new Date(now().getTime() + timeout_hours * HOUR_MS);
    return { wait: { reason: "callback", deadline, token: callbackToken() } };
  }
  if (mode === "for") return { wait: { reason: "time", deadline: new Date(now().getTime() + seconds * SECOND_MS) } };
  const deadline = timeOf(until);
  if (!deadline || isUntilWrong(until)) throw new Error(`It is to wait until a time, and was given ${shown(until)}.`);
  return deadline <= now() ? DONE : { wait: { reason: "time", deadline } };
}

export const waitNode = defineNode({
  type: "waitNode",
  title: "Wait",
  summary: "Waits for some time, until a time, or for a call from outside",
  group: "logic",
  hasInput: true,
  handles: ({ mode }) => (mode === "callback" ? ["done", "timed_out"] : ["done"]),
  handleTitle: (handle) => (handle === TIMED_OUT.handle ? "timed out" : undefined),
  plainHandle: "done",
  offHandle: "done",
  errorHandle: "done",
  // A call brings what is passed on; the clock brings nothing.
  passesContent: ({ mode }, handle) => mode !== "callback" || handle !== "done",
  fields: { resume_url: ({ data, callbackUrl }) => (data.mode === "callback" ? callbackUrl() : "") },
  hasField: (_, { mode }) => mode === "callback",
  earlyFields: ["resume_url"],
  isEffect: false,
  input: "mode",
  takesUpstream: () => true,
  config,
  pin: (output, { mode }) => ({ handle: mode === "callback" && output === TIMED_OUT.output ? TIMED_OUT.handle : DONE.handle }),
  problems,
  run,
  resume(end, { mode }) {
    if (end.status === "resolved") return { ...DONE, output: asText(end.outcome) };
    return mode === "callback" ? TIMED_OUT : DONE;
  },
});
