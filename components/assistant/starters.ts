import type { AssistantPlace } from "#components/shell/assistant.tsx";
import type { MessageMode } from "#server/features/assistant/schema.ts";

/** Something to begin with. */
export interface Starter {
  prompt: string;
  mode: MessageMode;
}

const ask = (prompt: string): Starter => ({ prompt, mode: "ask" });
const build = (prompt: string): Starter => ({ prompt, mode: "build" });

/**
 * What somebody may want here, the likeliest first.
 * @param isEmpty the project has no workflow yet
 */
export function startersFor(place: AssistantPlace, { isEmpty, canEdit }: { isEmpty: boolean; canEdit: boolean }): Starter[] {
  return all(place, isEmpty).filter(({ mode }) => canEdit || mode === "ask");
}

function all({ workflow, execution, node, canvas }: AssistantPlace, isEmpty: boolean): Starter[] {
  if (execution?.hasFailed)
    return [
      build("Repair this run: find what went wrong, propose a change, and prove it by running again from the failed node."),
      ask("Why did this run fail? Explain it in plain words."),
      ask("Has this happened in earlier runs too?"),
    ];
  if (node && (workflow || execution))
    return [ask(`What does “${node.name}” do, and where does what it gets come from?`), ask(`What could go wrong at “${node.name}”?`)];
  if (execution) return [ask("What happened in this run, step by step?"), ask("Where did the time and the cost of this run go?")];
  if (workflow?.isBare)
    return [
      build("Every morning, gather the news about a subject, have them summarised, and let me check the summary before it goes out."),
      build("Sort messages that come in by webhook into question, complaint and order, and draft an answer for each kind."),
      build("Take a list, let an agent work on each item, and put the results together in one table."),
    ];
  if (workflow)
    return [
      ask("What does this workflow do, from its trigger to its outputs?"),
      build("Look for what could go wrong in this workflow and propose how to make it sturdier."),
      build("Add a review by a person before the last step."),
    ];
  if (canvas) return [ask("What do the numbers on this dashboard say, and what stands out?"), ask("Why did the numbers change lately?")];
  if (isEmpty)
    return [
      build("Build a first workflow for me: take a text, let an agent summarise it, and give me the summary."),
      ask("What can I build here, and what do I need for it?"),
      ask("Which LLM keys can I use, and where do they go?"),
    ];
  return [
    ask("What failed lately, and why?"),
    ask("What is waiting for approval?"),
    ask("What did the runs of this week cost, and which workflow cost most?"),
    build("Build a workflow that summarises a text and lets me check the summary before it is done."),
  ];
}
