import { afterBody, BODY, defineTemplate } from "#server/features/workflow-files/templates/define-template.ts";

// Templates that write: texts, minutes, translations.

export const contentPipeline = defineTemplate({
  id: "content-pipeline",
  name: "Content pipeline",
  summary: "A writer drafts, a critic objects, the writer revises, and a person releases the text.",
  note: `
### What to change
- **Assignment**: the fields of the form.
- **Writer** and **Critic** are two agents on purpose: a model judges its own text too kindly. Give them different models if you can.
- **Release**: who decides. On **Rejected** the comment is kept beside the draft.
`,
  agents: {
    writer: {
      name: "Staff writer",
      description: "Drafts and revises texts for the web",
      temperature: 0.7,
      system_prompt: `
You write for a company's web pages. The reader knows the subject a little and has four minutes.

- One idea carries the text; say it in the first two sentences.
- Concrete before general: an example, a figure, a name. Verbs instead of nouns, short sentences beside long ones.
- No empty openings, no "in today's world", no three adjectives in a row, no exclamation marks.
- Subheadings that state something. End when it is said; no summary of what was just read.
- Where you would need a fact that you were not given, write [to check: …] instead of inventing one.

When you get a critique, revise the text by it. Follow what makes the text better, leave what does not, and return the whole text.
Return Markdown, only the text itself.
`,
    },
    critic: {
      name: "Critic",
      description: "Finds what is weak in a draft",
      temperature: 0.2,
      system_prompt: `
You are the editor who reads a draft before it is published. You do not rewrite it; you say what must change.

Give at most seven points, most important first. Each: the place (quote its first words), what is wrong, what to do instead. Look for: claims without support, the point that comes too late, passages that could stand in any text, words that sell instead of telling, contradictions, what the reader will ask and does not find, errors of language.
End with one line: "Publishable after these changes: yes" or "… no, because …".
`,
    },
  },
  nodes: {
    assignment: [
      "trigger",
      0,
      0,
      {
        label: "Assignment",
        kind: "params",
        parameters: [
          {
            name: "topic",
            label: "Topic",
            type: "text",
            required: true,
            default: "Why spare parts should be planned before the machine fails",
          },
          { name: "audience", label: "For whom", type: "text", required: true, default: "Heads of maintenance in mid-sized factories" },
          { name: "words", label: "Length in words", type: "number", required: true, default: 600 },
          { name: "facts", label: "Facts to use", type: "text", required: false, default: "" },
        ],
      },
    ],
    draft: [
      "agent",
      1,
      0,
      {
        label: "Draft",
        agent_id: "writer",
        input:
          "Write about: {{trigger.topic}}\nFor: {{trigger.audience}}\nLength: about {{trigger.words}} words\nFacts to use: {{trigger.facts}}",
      },
    ],
    critique: ["agent", 2, 0, { label: "Critique", agent_id: "critic", input: "For: {{trigger.audience}}\n\nDraft:\n{{Draft.output}}" }],
    revise: [
      "agent",
      3,
      0,
      { label: "Revise", agent_id: "writer", input: "Revise this text.\n\nText:\n{{Draft.output}}\n\nCritique:\n{{Critique.output}}" },
    ],
    release: [
      "humanLoop",
      4,
      0,
      {
        label: "Release",
        title: "Publish “{{trigger.topic}}”?",
        description: "Look for [to check: …]: these facts are still missing.",
        display_value: "{{Revise.output}}",
        timeout_hours: 96,
      },
    ],
    published: ["output", 5, -0.5, { label: "Released text", format: "markdown", value: "{{Revise.output}}" }],
    returned: [
      "output",
      5,
      0.5,
      { label: "Sent back", format: "markdown", value: "**Sent back:** {{Release.comment}}\n\n---\n\n{{Revise.output}}" },
    ],
  },
  edges: [
    "assignment>draft",
    "draft>critique",
    "critique>revise",
    "revise>release",
    "release.approved>published",
    "release.rejected>returned",
  ],
});

export const meetingActions = defineTemplate({
  id: "meeting-actions",
  name: "Meeting notes to actions",
  summary: "Makes minutes for people and a list of actions as JSON for your task tracker out of notes or a transcript.",
  note: `
### What to change
- **Notes**: paste them, or send a transcript as \`input\` over the API.
- Both agents read the same notes at the same time. **Actions** follows a JSON schema; add the fields that your tracker needs.
`,
  agents: {
    minutes: {
      name: "Minute taker",
      description: "Writes minutes that somebody absent can rely on",
      temperature: 0.1,
      system_prompt: `
You write minutes from notes or a transcript, in the language of the notes.

## Decisions
One full sentence each, with the reason if one was given. A proposal that nobody accepted is no decision.
## Discussed
At most eight bullets: what matters to somebody who was absent, with figures and names as they were said.
## Open questions
What was asked and not answered, and who is to answer.

Take names as they stand; do not guess who spoke. Where a later statement revokes an earlier one, keep the later. A section with nothing in it says "None."
`,
    },
    actions: {
      name: "Action extractor",
      description: "Pulls the tasks out of notes as JSON",
      temperature: 0,
      system_prompt: `
You pull the tasks out of notes or a transcript of a meeting.

A task is something that a person said they or another would do, or that was agreed to be done. Leave out wishes and ideas.
- what: begins with a verb and names a result that can be checked.
- who: the name as it was said; null when nobody was named ("we should …").
- due: YYYY-MM-DD when the date can be told from the notes, else null. due_said: the words that were used, else null.
- quote: the sentence of the notes that it rests on, copied exactly.
No tasks: an empty list.
`,
      output_schema: {
        type: "object",
        properties: {
          actions: {
            type: "array",
            items: {
              type: "object",
              properties: {
                what: { type: "string" },
                who: { type: ["string", "null"] },
                due: { type: ["string", "null"] },
                due_said: { type: ["string", "null"] },
                quote: { type: "string" },
              },
              required: ["what", "who", "due", "due_said", "quote"],
              additionalProperties: false,
            },
          },
        },
        required: ["actions"],
        additionalProperties: false,
      },
    },
  },
  nodes: {
    notes: [
      "trigger",
      0,
      0,
      {
        label: "Notes",
        kind: "manual",
        input_label: "Notes or transcript",
        default_input:
          "Meeting of 12 January 2027. Ines: the new pump arrives on Thursday. Jonas will tell the shift leads by tomorrow. We agreed to stop line 2 on Friday from 6 to 10. Somebody should look at the old contract. Ines asked whether the warranty still holds; nobody knew.",
      },
    ],
    take: ["agent", 1, -0.5, { label: "Minutes", agent_id: "minutes", input: "{{trigger.output}}" }],
    extract: ["agent", 1, 0.5, { label: "Actions", agent_id: "actions", input: "{{trigger.output}}" }],
    text: ["output", 2, -0.5, { label: "Minutes to send", format: "markdown", value: "{{Minutes.output}}" }],
    list: ["output", 2, 0.5, { label: "Action list", format: "json", value: "{{Actions.output.actions}}" }],
  },
  edges: ["notes>take", "notes>extract", "take>text", "extract>list"],
});

export const translationLoop = defineTemplate({
  id: "translation-loop",
  name: "Translation into many languages",
  summary: "Translates one text into every language of a list, side by side, and checks each translation.",
  note: `
### What to change
- **Text and languages**: the form. Languages are a JSON array.
- **Translator** keeps to the glossary in the form; **Checker** compares with the original and returns the better text.
- **Each language**: how many run side by side.
`,
  agents: {
    translator: {
      name: "Translator",
      description: "Translates so that it reads as written in the other language",
      temperature: 0.3,
      system_prompt: `
You translate a text into the language you are told, so that it reads as if a careful native writer had written it for the same purpose.

- Carry over meaning, register and intent, not word order. Keep the form of address the same throughout; the formal one if the source leaves it open.
- Leave unchanged: names, product names, code, URLs, placeholders such as {name}, %s or <b>, Markdown marks. Adapt decimal marks, dates and quotation marks.
- Keep strictly to the glossary. One term for one thing.
- Nothing is left out, softened or explained. Return only the translation.
`,
    },
    checker: {
      name: "Translation checker",
      description: "Compares a translation with its original and mends it",
      temperature: 0,
      system_prompt: `
You compare a translation with its original as a native reader of the target language. Check every sentence: is anything missing, added or turned round; are figures, names and placeholders the same; is the glossary kept; would a native writer say it so?

Mend what is wrong and leave the rest untouched. Return only the text of the translation, no remarks.
`,
    },
  },
  nodes: {
    form: [
      "trigger",
      0,
      0,
      {
        label: "Text and languages",
        kind: "params",
        parameters: [
          {
            name: "text",
            label: "Text",
            type: "text",
            required: true,
            default: "Your order {number} is on its way and arrives within two days.",
          },
          { name: "languages", label: "Languages", type: "array", required: true, default: ["German", "French", "Polish", "Japanese"] },
          { name: "glossary", label: "Glossary", type: "text", required: false, default: "order = Bestellung (German), commande (French)" },
        ],
      },
    ],
    each: [
      "loop",
      1,
      0,
      { label: "Each language", items_expression: "{{trigger.languages}}", concurrency: 4, on_item_error: "continue", max_iterations: 50 },
    ],
    translate: [
      "agent",
      1 + BODY.column,
      BODY.row,
      {
        label: "Translate",
        agent_id: "translator",
        input: "Into: {{Each language.current_item}}\nGlossary: {{trigger.glossary}}\n\nText:\n{{trigger.text}}",
      },
    ],
    check: [
      "agent",
      2 + BODY.column,
      BODY.row,
      {
        label: "Check",
        agent_id: "checker",
        input:
          "Language: {{Each language.current_item}}\nGlossary: {{trigger.glossary}}\n\nOriginal:\n{{trigger.text}}\n\nTranslation:\n{{Translate.output}}",
      },
    ],
    all: [
      "output",
      1 + afterBody(2),
      0,
      { label: "All translations", format: "json", value: '{"languages": {{trigger.languages}}, "texts": {{Each language.output}}}' },
    ],
  },
  edges: ["form>each", "each.body>translate", "translate>check", "each.done>all"],
});
