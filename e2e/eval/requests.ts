import { graphOf } from "#e2e/api/graphs.ts";
import {
  changesOnly,
  everyWayLeads,
  failuresGoOn,
  fieldFits,
  has,
  hasNo,
  type Rule,
  reachesOutput,
  readable,
  runnable,
  says,
  unchanged,
  uses,
  valid,
} from "#e2e/eval/rules.ts";
import type { Graph } from "#server/workflow/schema.ts";

// What the assistant is asked to do, from easy to hard, in two languages, and how it is told whether it did it.

/** A call of a tool by the stand-in for a model. */
export interface ScriptedCall {
  name: string;
  args: Record<string, unknown>;
}

export interface EvalRequest {
  name: string;
  kind: "build" | "change" | "explain" | "repair";
  level: 1 | 2 | 3;
  ask: string;
  /** The workflow that is open. */
  before: Graph;
  /** With which input the workflow is run afterwards, and, of a repair or an explanation of a run, before. */
  input: string;
  /** Whether a run of `before` is there and open. */
  hasRun?: boolean;
  rules: Rule[];
  /** What a good assistant makes of it: played by the stand-in. Left out, the workflow stays. */
  after?: Graph;
  /** What the stand-in does before it proposes `after`, and what it says in the end. */
  looks?: ScriptedCall[];
  says: string;
}

/** Ids that are known when the evaluation runs. */
export interface EvalIds {
  /** An agent that does what its message says. */
  agent_id: string;
}

type Nodes = Parameters<typeof graphOf>[0];

/** The requests, for a project with these agents. Placeholders in `looks`: WORKFLOW and RUN stand for what is open. */
export function evalRequests({ agent_id }: EvalIds): EvalRequest[] {
  const ask = (input: string, more = {}): Nodes[string] => ["agent", { agent_id, input, ...more }];
  const start: Nodes = { trigger: ["trigger", { label: "Start", kind: "manual", default_input: "tea" }] };
  const out = (value = ""): Nodes[string] => ["output", { label: "Result", value }];
  const empty = graphOf(start, []);
  const chain = graphOf(
    { ...start, write: ask("Write a line about {{trigger.output}}", { label: "Write" }), out: out("{{Write.output}}") },
    ["trigger>write", "write>out"],
  );
  const triage = graphOf(
    {
      ...start,
      sort: ask("Is this urgent? Answer yes or no: {{trigger.output}}", { label: "Sort" }),
      urgent: ["branch", { label: "Urgent", condition: '"yes" in output.lower()' }],
      now: ["output", { label: "Now", value: "now: {{trigger.output}}" }],
      later: ["output", { label: "Later", value: "later: {{trigger.output}}" }],
    },
    ["trigger>sort", "sort>urgent", "urgent.true>now", "urgent.false>later"],
  );
  const letters = graphOf(
    {
      ...start,
      each: ["loop", { label: "Each", items_expression: "{{trigger.output}}" }],
      letter: ask("Write to {{Each.current_item}}", { label: "Letter" }),
      out: out("{{Each.output}}"),
    },
    ["trigger>each", "each.body>letter", "each.done>out"],
  );
  const always = [valid, runnable, reachesOutput, readable];

  const build = (name: string, level: EvalRequest["level"], text: string, after: Graph, rules: Rule[], input = "tea"): EvalRequest => ({
    name,
    kind: "build",
    level,
    ask: text,
    before: empty,
    input,
    after,
    rules: [...always, ...rules],
    says: "Here is a proposal.",
  });
  const change = (
    name: string,
    level: EvalRequest["level"],
    text: string,
    before: Graph,
    after: Graph,
    rules: Rule[],
    input = "tea",
  ): EvalRequest => ({
    name,
    kind: "change",
    level,
    ask: text,
    before,
    input,
    after,
    rules: [...always, ...rules],
    looks: [{ name: "get_workflow", args: { workflow_id: "WORKFLOW" } }],
    says: "Here is the change.",
  });
  const explain = (
    name: string,
    level: EvalRequest["level"],
    text: string,
    before: Graph,
    looks: EvalRequest["looks"] & {},
    answer: string,
    rules: Rule[],
    run?: string,
  ): EvalRequest => ({
    name,
    kind: "explain",
    level,
    ask: text,
    before,
    input: run ?? "tea",
    hasRun: run !== undefined,
    looks,
    says: answer,
    rules: [unchanged, ...rules],
  });
  const repair = (
    name: string,
    level: EvalRequest["level"],
    text: string,
    before: Graph,
    after: Graph,
    input: string,
    rules: Rule[],
  ): EvalRequest => ({
    name,
    kind: "repair",
    level,
    ask: text,
    before,
    input,
    hasRun: true,
    after,
    looks: [{ name: "get_run_log", args: { execution_id: "RUN" } }],
    says: "The run failed there. This mends it.",
    rules: [...always, uses("get_run_log"), ...rules],
  });
  return [
    build("one agent", 1, "Write a haiku about whatever I type in, and show it.", chain, [has("agentNode"), has("outputNode")]),
    build("ein Agent", 1, "Fasse den Text, den ich eingebe, in einem Satz zusammen und zeige ihn an.", chain, [
      has("agentNode"),
      has("outputNode"),
    ]),
    build(
      "two agents in a row",
      1,
      "First draft an answer to the mail I paste, then have a second step shorten the draft. Show the short one.",
      graphOf(
        {
          ...start,
          draft: ask("Answer this mail: {{trigger.output}}", { label: "Draft" }),
          short: ask("Shorten: {{Draft.output}}", { label: "Shorten" }),
          out: out("{{Shorten.output}}"),
        },
        ["trigger>draft", "draft>short", "short>out"],
      ),
      [has("agentNode", 2)],
    ),
    build(
      "every weekday morning",
      2,
      "Every weekday at 9 in Berlin, write three lines of news about looms and keep them as the result.",
      graphOf(
        {
          trigger: ["trigger", { label: "Start", kind: "schedule", cron_expression: "0 9 * * 1-5", timezone: "Europe/Berlin" }],
          write: ask("Three lines of news about looms", { label: "Write" }),
          out: out("{{Write.output}}"),
        },
        ["trigger>write", "write>out"],
      ),
      [
        has("triggerNode", 1, { kind: "schedule", timezone: "Europe/Berlin" }),
        fieldFits("triggerNode", "cron_expression", /9 \* \* (1-5|MON-FRI)/i),
      ],
    ),
    build(
      "Freigabe vor dem Versand",
      2,
      "Entwirf eine Antwort auf die eingegebene Beschwerde. Ein Mensch soll sie freigeben, bevor sie als Ergebnis gilt.",
      graphOf(
        {
          ...start,
          draft: ask("Antworte: {{trigger.output}}", { label: "Entwurf" }),
          check: ["humanLoop", { label: "Freigabe", title: "Freigeben?", display_value: "{{Entwurf.output}}" }],
          out: out("{{Entwurf.output}}"),
        },
        ["trigger>draft", "draft>check", "check.approved>out"],
      ),
      [has("humanLoopNode"), has("agentNode")],
    ),
    build(
      "urgent or not",
      2,
      "Decide whether the message I type is urgent. Urgent ones end in an output Now, the others in an output Later.",
      triage,
      [has("branchNode"), has("outputNode", 2), everyWayLeads],
    ),
    build(
      "Briefe in einer Schleife",
      2,
      "Ich gebe eine JSON-Liste von Namen ein. Schreibe für jeden Namen einen Brief und zeige alle zusammen an.",
      letters,
      [has("loopNode"), has("agentNode"), fieldFits("loopNode", "items_expression", /trigger/)],
      '["Ada", "Grace"]',
    ),
    build(
      "signed webhook",
      2,
      "When our shop calls a webhook with an order, write a thank-you note for it.",
      graphOf(
        {
          trigger: ["trigger", { label: "Order", kind: "webhook" }],
          write: ask("Thank for {{trigger.output}}", { label: "Thanks" }),
          out: out("{{Thanks.output}}"),
        },
        ["trigger>write", "write>out"],
      ),
      [has("triggerNode", 1, { kind: "webhook" })],
      "",
    ),
    build(
      "a form, two languages, a check",
      3,
      "Ask for a product name (text, required) and a tone (warm or plain). Write an advert in that tone, then a German one, and let somebody approve both together before they count. If it is rejected say so in another output.",
      graphOf(
        {
          trigger: [
            "trigger",
            {
              label: "Form",
              kind: "params",
              parameters: [
                { name: "product", type: "text", required: true, default: "tea" },
                { name: "tone", type: "select", options: ["warm", "plain"], default: "warm" },
              ],
            },
          ],
          en: ask("Advert for {{trigger.product}}, {{trigger.tone}}", { label: "English", on_error: "continue" }),
          de: ask("In German: {{English.output}}", { label: "German", on_error: "continue" }),
          check: ["humanLoop", { label: "Check", title: "Publish?", display_value: "{{English.output}}\n\n{{German.output}}" }],
          out: out("{{English.output}}\n{{German.output}}"),
          no: ["output", { label: "Rejected", value: "Rejected: {{Check.comment}}" }],
        },
        ["trigger>en", "en>de", "de>check", "check.approved>out", "check.rejected>no"],
      ),
      [has("triggerNode", 1, { kind: "params" }), has("agentNode", 2), has("humanLoopNode"), has("outputNode", 2), everyWayLeads],
      "",
    ),
    build(
      "Stapel mit Fehlern, die weitergehen",
      3,
      "Ich gebe eine JSON-Liste von Tickets ein. Ordne jedes ein, höchstens drei gleichzeitig. Schlägt eines fehl, sollen die anderen weitergehen. Danach eine Zusammenfassung schreiben, auch wenn das Modell dabei einmal ausfällt.",
      graphOf(
        {
          ...start,
          each: ["loop", { label: "Tickets", items_expression: "{{trigger.output}}", concurrency: 3, on_item_error: "continue" }],
          sort: ask("Ordne ein: {{Tickets.current_item}}", { label: "Einordnen", on_error: "continue" }),
          sum: ask("Fasse zusammen: {{Tickets.output}}", { label: "Zusammenfassung", on_error: "continue" }),
          out: out("{{Zusammenfassung.output}}"),
        },
        ["trigger>each", "each.body>sort", "each.done>sum", "sum>out"],
      ),
      [has("loopNode", 1, { concurrency: 3, on_item_error: "continue" }), has("agentNode", 2), failuresGoOn],
      '["a", "b"]',
    ),

    change(
      "another instruction",
      1,
      "Make the agent write two lines instead of one.",
      chain,
      graphOf({ ...start, write: ask("Write two lines about {{trigger.output}}", { label: "Write" }), out: out("{{Write.output}}") }, [
        "trigger>write",
        "write>out",
      ]),
      [changesOnly("write"), fieldFits("agentNode", "input", /two/i)],
    ),
    change(
      "umbenennen",
      1,
      "Benenne den Knoten Write in Verfasser um, und sorge dafür, dass das Ergebnis noch stimmt.",
      chain,
      graphOf({ ...start, write: ask("Write a line about {{trigger.output}}", { label: "Verfasser" }), out: out("{{Verfasser.output}}") }, [
        "trigger>write",
        "write>out",
      ]),
      [changesOnly("write", "out"), fieldFits("agentNode", "label", /Verfasser/)],
    ),
    change(
      "a step in between",
      2,
      "Put a step between Write and the result that translates the line into French.",
      chain,
      graphOf(
        {
          ...start,
          write: ask("Write a line about {{trigger.output}}", { label: "Write" }),
          fr: ask("In French: {{Write.output}}", { label: "French" }),
          out: out("{{French.output}}"),
        },
        ["trigger>write", "write>fr", "fr>out"],
      ),
      [has("agentNode", 2), changesOnly("out"), fieldFits("outputNode", "value", /French|^"\\?"?"$/i)],
    ),
    change(
      "take a step out",
      2,
      "Remove the branch: everything shall go to Now.",
      triage,
      graphOf(
        {
          ...start,
          sort: ask("Is this urgent? Answer yes or no: {{trigger.output}}", { label: "Sort" }),
          now: ["output", { label: "Now", value: "now: {{trigger.output}}" }],
        },
        ["trigger>sort", "sort>now"],
      ),
      [hasNo("branchNode")],
    ),
    change(
      "Freigabe einbauen",
      2,
      "Bevor das Ergebnis gilt, soll jemand die Zeile freigeben.",
      chain,
      graphOf(
        {
          ...start,
          write: ask("Write a line about {{trigger.output}}", { label: "Write" }),
          check: ["humanLoop", { label: "Freigabe", title: "Freigeben?", display_value: "{{Write.output}}" }],
          out: out("{{Write.output}}"),
        },
        ["trigger>write", "write>check", "check.approved>out"],
      ),
      [has("humanLoopNode"), changesOnly("out")],
    ),
    change(
      "on a schedule",
      2,
      "Run this every hour instead of by hand.",
      chain,
      graphOf(
        {
          trigger: ["trigger", { label: "Start", kind: "schedule", cron_expression: "0 * * * *", default_input: "tea" }],
          write: ask("Write a line about {{trigger.output}}", { label: "Write" }),
          out: out("{{Write.output}}"),
        },
        ["trigger>write", "write>out"],
      ),
      [has("triggerNode", 1, { kind: "schedule" }), changesOnly("trigger")],
    ),
    change(
      "side by side",
      3,
      "Letters should be written five at a time, failures of one must not stop the others, and add a summary of all letters at the end.",
      letters,
      graphOf(
        {
          ...start,
          each: ["loop", { label: "Each", items_expression: "{{trigger.output}}", concurrency: 5, on_item_error: "continue" }],
          letter: ask("Write to {{Each.current_item}}", { label: "Letter" }),
          sum: ask("Sum up: {{Each.output}}", { label: "Summary" }),
          out: out("{{Summary.output}}"),
        },
        ["trigger>each", "each.body>letter", "each.done>sum", "sum>out"],
      ),
      [has("loopNode", 1, { concurrency: 5, on_item_error: "continue" }), has("agentNode", 2), changesOnly("each", "out")],
      '["Ada", "Grace"]',
    ),
    change(
      "dritter Weg",
      3,
      "Dringende Nachrichten sollen zusätzlich zusammengefasst werden, und wenn das Sortieren fehlschlägt, soll die Nachricht trotzdem als dringend gelten.",
      triage,
      graphOf(
        {
          ...start,
          sort: ask("Is this urgent? Answer yes or no: {{trigger.output}}", { label: "Sort", on_error: "continue" }),
          urgent: ["branch", { label: "Urgent", condition: '"no" not in output.lower()' }],
          sum: ask("Sum up: {{trigger.output}}", { label: "Summary", on_error: "continue" }),
          now: ["output", { label: "Now", value: "now: {{Summary.output}}" }],
          later: ["output", { label: "Later", value: "later: {{trigger.output}}" }],
        },
        ["trigger>sort", "sort>urgent", "urgent.true>sum", "sum>now", "urgent.false>later"],
      ),
      [has("agentNode", 2), everyWayLeads, failuresGoOn],
    ),

    explain(
      "what a node is for",
      1,
      "What does a Branch do, and what may its condition use?",
      chain,
      [{ name: "search_guide", args: { query: "branch condition" } }],
      "A Branch goes one of two ways by a Python condition; it can use output (see /docs/nodes).",
      [uses("search_guide"), says(/\/docs\//), says(/condition/i)],
    ),
    explain(
      "wie fängt ein Workflow an",
      1,
      "Wie kann ein Workflow jede Nacht von selbst laufen?",
      chain,
      [{ name: "search_guide", args: { query: "schedule trigger" } }],
      "Mit einem Zeitplan am Trigger (Schedule), siehe /docs/triggers.",
      [uses("search_guide"), says(/\/docs\//), says(/schedule|zeitplan|cron/i)],
    ),
    explain(
      "this workflow",
      1,
      "What does this workflow do, step by step?",
      triage,
      [{ name: "get_workflow", args: { workflow_id: "WORKFLOW" } }],
      "It starts with a text, Sort asks whether it is urgent, Urgent branches, Now and Later keep it.",
      [says(/sort/i), says(/now/i), says(/later/i)],
    ),
    explain(
      "what a run gave",
      2,
      "What came out of the open run, and which way did it go?",
      triage,
      [{ name: "get_run", args: { execution_id: "RUN" } }],
      "It went to Later: “later: tea”.",
      [says(/later|now/i)],
      "tea",
    ),
    explain(
      "warum scheiterte er",
      2,
      "Warum ist dieser Lauf gescheitert? Bitte noch nichts ändern.",
      letters,
      [{ name: "get_run_log", args: { execution_id: "RUN" } }],
      "Die Eingabe von Each ist keine Liste (JSON-Array).",
      [uses("get_run_log"), says(/list|array/i)],
      "no list",
    ),
    explain(
      "which cost most",
      3,
      "Which node of the open run took the most tokens, and would the run be cheaper without it?",
      chain,
      [{ name: "get_run_log", args: { execution_id: "RUN" } }],
      "Write took all of the tokens: it is the only agent.",
      [uses("get_run_log"), says(/write/i)],
      "tea",
    ),

    repair(
      "not a list",
      2,
      "This run failed. Find out why and repair the workflow so that a single name works, too.",
      letters,
      graphOf(
        {
          ...start,
          each: ["loop", { label: "Each", items_expression: '["{{trigger.output}}"]' }],
          letter: ask("Write to {{Each.current_item}}", { label: "Letter" }),
          out: out("{{Each.output}}"),
        },
        ["trigger>each", "each.body>letter", "each.done>out"],
      ),
      "Ada",
      [has("loopNode")],
    ),
    repair(
      "falsche Bedingung",
      2,
      "Der Lauf ist gescheitert. Bitte reparieren.",
      graphOf(
        {
          ...start,
          big: ["branch", { label: "Big", condition: "int(output) > 10" }],
          yes: ["output", { label: "Yes", value: "big" }],
          no: ["output", { label: "No", value: "small" }],
        },
        ["trigger>big", "big.true>yes", "big.false>no"],
      ),
      graphOf(
        {
          ...start,
          big: ["branch", { label: "Big", condition: "output.isdigit() and int(output) > 10" }],
          yes: ["output", { label: "Yes", value: "big" }],
          no: ["output", { label: "No", value: "small" }],
        },
        ["trigger>big", "big.true>yes", "big.false>no"],
      ),
      "tea",
      [everyWayLeads, changesOnly("big")],
    ),
    repair(
      "no JSON",
      2,
      "Repair what made the open run fail.",
      graphOf({ ...start, out: ["output", { label: "Result", value: "{{trigger.output}}", format: "json" }] }, ["trigger>out"]),
      graphOf({ ...start, out: ["output", { label: "Result", value: "{{trigger.output}}", format: "passthrough" }] }, ["trigger>out"]),
      "tea",
      [changesOnly("out")],
    ),
    repair(
      "zu viele",
      3,
      "Der Lauf bricht bei längeren Listen ab. Behebe das, ohne sonst etwas zu ändern.",
      graphOf(
        {
          ...start,
          each: ["loop", { label: "Each", items_expression: "{{trigger.output}}", max_iterations: 1 }],
          line: ["output", { label: "Line", value: "{{Each.current_item}}" }],
          out: out("{{Each.output}}"),
        },
        ["trigger>each", "each.body>line", "each.done>out"],
      ),
      graphOf(
        {
          ...start,
          each: ["loop", { label: "Each", items_expression: "{{trigger.output}}", max_iterations: 1000 }],
          line: ["output", { label: "Line", value: "{{Each.current_item}}" }],
          out: out("{{Each.output}}"),
        },
        ["trigger>each", "each.body>line", "each.done>out"],
      ),
      '["Ada", "Grace"]',
      [changesOnly("each")],
    ),
    repair(
      "ends as failed",
      2,
      "The run ends as failed although nothing is wrong. Please repair it.",
      graphOf({ ...start, stop: ["terminate", { label: "Stop", status: "failed", message: "done" }], out: out("{{trigger.output}}") }, [
        "trigger>stop",
        "trigger>out",
      ]),
      graphOf({ ...start, out: out("{{trigger.output}}") }, ["trigger>out"]),
      "tea",
      [],
    ),
    repair(
      "a missing field",
      3,
      "The run failed at the branch. Repair it so that an answer without a kind counts as other.",
      graphOf(
        {
          ...start,
          kind: ["branch", { label: "Bill", condition: 'json.loads(output)["kind"] == "bill"' }],
          bill: ["output", { label: "Bills", value: "bill" }],
          other: ["output", { label: "Other", value: "other" }],
        },
        ["trigger>kind", "kind.true>bill", "kind.false>other"],
      ),
      graphOf(
        {
          ...start,
          kind: ["branch", { label: "Bill", condition: 'json.loads(output).get("kind") == "bill"' }],
          bill: ["output", { label: "Bills", value: "bill" }],
          other: ["output", { label: "Other", value: "other" }],
        },
        ["trigger>kind", "kind.true>bill", "kind.false>other"],
      ),
      '{"a": 1}',
      [everyWayLeads, changesOnly("kind")],
    ),
  ];
}
