import { afterBody, BODY, defineTemplate } from "#server/features/workflow-files/templates/define-template.ts";

// Templates that run on a fresh install, without any LLM key.

export const approvalDesk = defineTemplate({
  id: "approval-desk",
  name: "Approval desk",
  summary: "A form asks for a purchase; small amounts pass at once, larger ones wait for a person.",
  note: `
### What to change
- **Request**: the fields of the form.
- **Over the limit?**: the amount that passes without a person.
- **Ask a manager**: who is told by e-mail, and after how many hours silence counts as no.
`,
  nodes: {
    request: [
      "trigger",
      0,
      0,
      {
        label: "Request",
        kind: "params",
        parameters: [
          { name: "item", label: "What is to be bought?", type: "text", required: true, default: "Standing desk" },
          { name: "amount", label: "Price in euros", type: "number", required: true, default: 640 },
          { name: "reason", label: "What is it for?", type: "text", required: false, default: "The old one cannot be raised any more." },
        ],
      },
    ],
    limit: ["branch", 1, 0, { label: "Over the limit?", condition: 'json.loads(trigger_output)["amount"] > 500' }],
    ask: [
      "humanLoop",
      2,
      -0.5,
      {
        label: "Ask a manager",
        title: "Buy “{{trigger.item}}” for {{trigger.amount}} €?",
        description: "Approve to let the order go out. Write a comment if it is to be cheaper or later.",
        display_value: "**Item:** {{trigger.item}}\n\n**Price:** {{trigger.amount}} €\n\n**Reason:** {{trigger.reason}}",
        timeout_hours: 72,
      },
    ],
    approved: [
      "output",
      3,
      -1,
      {
        label: "Approved",
        format: "markdown",
        value: "**Approved by a manager:** {{trigger.item}}, {{trigger.amount}} €\n\n{{Ask a manager.comment}}",
      },
    ],
    declined: [
      "output",
      3,
      0,
      { label: "Declined", format: "markdown", value: "**Declined:** {{trigger.item}}, {{trigger.amount}} €\n\n{{Ask a manager.comment}}" },
    ],
    passed: [
      "output",
      2,
      0.75,
      { label: "Passed at once", format: "markdown", value: "**Passed without a review:** {{trigger.item}}, {{trigger.amount}} €" },
    ],
  },
  edges: ["request>limit", "limit.true>ask", "limit.false>passed", "ask.approved>approved", "ask.rejected>declined"],
});

export const webhookRouter = defineTemplate({
  id: "webhook-router",
  name: "Webhook router",
  summary: "A signed webhook brings an order as JSON; its amount decides into which queue it goes.",
  note: `
### What to change
- **Order**: open it, set up the webhook and give the address and the secret to the sender.
- **Large order?**: the field and the limit. A missing amount counts as 0.
- Both outputs hold JSON; fetch them over the API, or show them on a canvas.

To try it, press **Run** with \`{"id": "A-17", "amount": 1250}\`.
`,
  nodes: {
    order: ["trigger", 0, 0, { label: "Order", kind: "webhook", payload_path: "", default_input: '{"id": "A-17", "amount": 1250}' }],
    large: ["branch", 1, 0, { label: "Large order?", condition: 'float(json.loads(trigger_output).get("amount") or 0) >= 1000' }],
    priority: [
      "output",
      2,
      -0.5,
      { label: "Priority queue", format: "json", value: '{"queue": "priority", "answer_within_hours": 4, "order": {{trigger.output}}}' },
    ],
    normal: [
      "output",
      2,
      0.5,
      { label: "Normal queue", format: "json", value: '{"queue": "normal", "answer_within_hours": 48, "order": {{trigger.output}}}' },
    ],
  },
  edges: ["order>large", "large.true>priority", "large.false>normal"],
});

export const batchLetters = defineTemplate({
  id: "batch-letters",
  name: "Batch with a loop",
  summary: "Goes through a list, writes one text for each entry, and keeps all of them in order.",
  note: `
### What to change
- **List**: the entries, as a JSON array. Over the API, send it as \`input\`.
- **Letter**: the text for one entry; \`{{Each person.current_item.name}}\` reads a field of it.
- **Each person**: how many run side by side, and what happens when one fails.

Put an agent in place of **Letter** to have each one written.
`,
  nodes: {
    list: [
      "trigger",
      0,
      0,
      {
        label: "List",
        kind: "manual",
        input_label: "People, as a JSON array",
        default_input: JSON.stringify(
          [
            { name: "Ada", event: "the opening", day: "Monday" },
            { name: "Grace", event: "the workshop", day: "Tuesday" },
            { name: "Mary", event: "the closing dinner", day: "Friday" },
          ],
          null,
          2,
        ),
      },
    ],
    each: [
      "loop",
      1,
      0,
      { label: "Each person", items_expression: "{{trigger.output}}", concurrency: 3, on_item_error: "fail", max_iterations: 500 },
    ],
    letter: [
      "output",
      1 + BODY.column,
      BODY.row,
      {
        label: "Letter",
        format: "markdown",
        value:
          "Dear {{Each person.current_item.name}},\n\nyou are invited to {{Each person.current_item.event}} on {{Each person.current_item.day}}. Please say until the day before whether you come.",
      },
    ],
    all: ["output", 1 + afterBody(1), 0, { label: "All letters", format: "json", value: "{{Each person.output}}" }],
  },
  edges: ["list>each", "each.body>letter", "each.done>all"],
});

export const nightlyReminder = defineTemplate({
  id: "nightly-reminder",
  name: "Nightly reminder",
  summary: "Asks every working day whether a duty was done, and marks the day as failed when nobody confirms it.",
  note: `
### What to change
- **Every evening**: time and time zone. The workflow comes switched **off**: switch it on in the list of workflows.
- **Backups checked?**: the question, who gets the e-mail, and how long to wait.

A day that nobody confirms ends as failed, so it stands out among the runs.
`,
  nodes: {
    evening: [
      "trigger",
      0,
      0,
      {
        label: "Every evening",
        kind: "schedule",
        cron_expression: "0 18 * * 1-5",
        timezone: "UTC",
        default_input: "Backup check",
        active: true,
      },
    ],
    ask: [
      "humanLoop",
      1,
      0,
      {
        label: "Backups checked?",
        title: "Were today’s backups checked?",
        description: "Approve when the latest backup was restored into the test machine and opened without a fault.",
        display_value:
          "1. Last backup is younger than 24 hours.\n2. Its size is within 20 % of yesterday’s.\n3. One file was restored and opened.",
        timeout_hours: 4,
      },
    ],
    done: ["output", 2, -0.5, { label: "Confirmed", format: "markdown", value: "**Backups checked.** {{Backups checked?.comment}}" }],
    missed: [
      "terminate",
      2,
      0.5,
      { label: "Missed", status: "failed", message: "Nobody confirmed that the backups were checked. {{Backups checked?.comment}}" },
    ],
  },
  edges: ["evening>ask", "ask.approved>done", "ask.rejected>missed"],
});
