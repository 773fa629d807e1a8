import { conditionOf, newTests, oldTest, testsOf } from "#server/features/workflow-files/n8n/conditions.ts";
import type { Find } from "#server/features/workflow-files/n8n/javascript.ts";
import { at, type Json, numberIn, shown, wordOf } from "#server/features/workflow-files/n8n/source.ts";
import { after, type Kind, outputOf, rows } from "#server/features/workflow-files/n8n/step.ts";
import { nameKey } from "#server/shared/fold-text.ts";

// If, Filter, Switch and Wait: they decide, and what came to them goes on.

const decides = { passes: true } as const;
export const branch: Kind = {
  ...decides,
  type: "branchNode",
  data: (step) => ({ condition: conditionOf(testsOf(step.source.parameters), step.findHere, step.itemOf) }),
  ways: (_, output) => (output === 0 ? ["true"] : output === 1 ? ["false"] : []),
};

interface Case {
  label: string;
  condition: string;
  output: number;
}

/** The cases of a Switch of any version, each with the way by which n8n left it. */
function casesOf(parameters: Json, find: Find, itemOf: string | undefined): Case[] {
  const fresh = rows(at(parameters, "rules", "values")).map((row, output) => ({
    label: wordOf(at(row, "outputKey")),
    condition: conditionOf(newTests(at(row, "conditions")), find, itemOf),
    output,
  }));
  const type = wordOf(at(parameters, "dataType"), "number");
  const old = rows(at(parameters, "rules", "rules")).map((row) => {
    const test = oldTest(row, type, at(parameters, "value1"));
    const condition = conditionOf({ isAny: false, ignoresCase: false, tests: [test] }, find, itemOf);
    return { label: shown(test.right), condition, output: numberIn(at(row, "output") ?? 0) };
  });
  return [...fresh, ...old].slice(0, MOST_CASES);
}
const MOST_CASES = 20;

/** The way of n8n on which what fits no case goes. */
function fallbackOf(parameters: Json, count: number): number | undefined {
  const fallback = at(parameters, "options", "fallbackOutput") ?? at(parameters, "fallbackOutput");
  if (fallback === "extra") return count;
  return typeof fallback === "number" && fallback >= 0 ? fallback : undefined;
}

const nowhere: Find = () => undefined;
const outputsKnown = new WeakMap<Json, readonly number[]>();
/** The ways by which n8n left the cases of a Switch, found once for all of its connections. */
function outputsOf(parameters: Json): readonly number[] {
  const outputs = outputsKnown.get(parameters) ?? casesOf(parameters, nowhere, undefined).map(({ output }) => output);
  outputsKnown.set(parameters, outputs);
  return outputs;
}

export const switches: Kind = {
  ...decides,
  type: "switchNode",
  data(step) {
    const p = step.source.parameters;
    if (at(p, "mode") === "expression") {
      step.toDo(`n8n computed the number of the way: ${wordOf(at(p, "output")).slice(0, 300)}. Write a condition for each.`, "cases");
      const ways = Math.min(MOST_CASES, Math.max(1, numberIn(at(p, "numberOutputs")) || 4));
      return { cases: Array.from({ length: ways }, (_, index) => ({ id: String(index + 1), label: `Way ${index}`, condition: "" })) };
    }
    if (rows(at(p, "rules", "values")).length + rows(at(p, "rules", "rules")).length > MOST_CASES)
      step.toDo(`Only the first ${MOST_CASES} cases are here. Put another Switch behind default for the rest.`, "cases");
    const taken = new Set(["default"]);
    const cases = casesOf(p, step.findHere, step.itemOf).map(({ label, condition }, index) => {
      const wanted = label.trim().slice(0, 100) || `Case ${index + 1}`;
      let free = wanted;
      for (let number = 2; taken.has(nameKey(free)); number++) free = `${wanted} ${number}`;
      taken.add(nameKey(free));
      return { id: String(index + 1), label: free, condition };
    });
    return cases.length ? { cases } : {};
  },
  ways({ parameters: p }, output) {
    if (at(p, "mode") === "expression") return output < MOST_CASES ? [`case:${output + 1}`] : [];
    const outputs = outputsOf(p);
    const own = outputs.flatMap((one, index) => (one === output ? [`case:${index + 1}`] : []));
    return fallbackOf(p, outputs.length) === output ? [...own, "default"] : own;
  },
};

const SECONDS: Readonly<Record<string, number>> = { seconds: 1, minutes: 60, hours: 3600, days: 86_400 };

export const wait: Kind = {
  ...decides,
  type: "waitNode",
  data(step) {
    const { parameters: p, version } = step.source;
    const resume = wordOf(at(p, "resume"), "timeInterval");
    if (resume === "specificTime") return { mode: "until", until: step.text(at(p, "dateTime"), "until") };
    if (resume === "webhook" || resume === "form") {
      step.toDo(
        resume === "form"
          ? "n8n waited for a form. Here a call continues the run: give its URL to the person who fills in the form, or use a Review."
          : "The caller needs the new URL, {{name of this node.resume_url}}.",
      );
      return { mode: "callback" };
    }
    const amount = at(p, "amount") ?? (version < 1.1 ? 1 : 5);
    const unit = wordOf(at(p, "unit"), version < 1.1 ? "hours" : "seconds");
    const seconds = numberIn(amount) * (Object.hasOwn(SECONDS, unit) ? (SECONDS[unit] as number) : 1);
    if (seconds >= 0 && seconds < 1) return { mode: "for", seconds: 1 };
    if (!(seconds >= 1 && seconds <= 365 * 86_400)) {
      step.toDo(`n8n waited ${shown(amount).slice(0, 200)} ${unit}. Say for how many seconds.`, "seconds");
      return { mode: "for" };
    }
    return { mode: "for", seconds };
  },
  ways: (_, output) => (output === 0 ? ["done"] : []),
  reads(step, path) {
    if (!["webhook", "form"].includes(wordOf(at(step.source.parameters, "resume")))) return step.input(path);
    return outputOf(step.label, after(path, "body") ?? path);
  },
};
