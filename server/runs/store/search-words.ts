import type { ExecutionTrigger } from "#server/runs/schema.ts";
import { earlierSearchWords, lexemeQuery, searchWords, wordsQuery } from "#server/shared/search-text.ts";

// What a run is found by: words of what went in and came out, written with it and looked up in one index (decision 34).

/** Of each text so many characters are looked at, and of a run's input or end so many words kept. */
export const TEXT_CHARACTERS = 8000;
const MOST_WORDS = 1000;
/** Words of a query that count. */
const MOST_ASKED = 12;

/** Marks cannot be words: they hold a colon. */
const marks = {
  project: (id: string) => `project:${id}`,
  workflow: (id: string) => `workflow:${id}`,
  trigger: (trigger: string) => `trigger:${trigger}`,
};

const wordsIn = (texts: readonly (string | null | undefined)[]): string[] =>
  searchWords(texts.map((text) => text?.slice(0, TEXT_CHARACTERS) ?? "").join("\n"), MOST_WORDS);

/** What a run is found by from its beginning. */
export const wordsAtStart = (run: { project_id: string; workflow_id: string; trigger: ExecutionTrigger; input: string }): string[] => [
  marks.project(run.project_id),
  marks.workflow(run.workflow_id),
  marks.trigger(run.trigger),
  ...wordsIn([run.input]),
];

/** What a run is found by as well once it has ended. */
export const wordsAtEnd = ({ output, error }: { output?: string | null; error?: string | null }): string[] => wordsIn([output, error]);

/**
 * What to look up in the index: runs of the project that have every word of `q`, or one that begins like it.
 * @param triggers any of these; none for all
 * @returns a `tsquery`
 */
export function searchQuery({
  project_id,
  workflow_id,
  triggers = [],
  q = "",
}: {
  project_id: string;
  workflow_id?: string | undefined;
  triggers?: readonly string[] | undefined;
  q?: string | undefined;
}): string {
  // Runs of releases before this folding keep their words until retention removes them.
  const words = wordsQuery(searchWords(q, MOST_ASKED), earlierSearchWords(q, MOST_ASKED));
  return [
    lexemeQuery(marks.project(project_id)),
    ...(workflow_id === undefined ? [] : [lexemeQuery(marks.workflow(workflow_id))]),
    ...(triggers.length ? [`(${triggers.map((trigger) => lexemeQuery(marks.trigger(trigger))).join(" | ")})`] : []),
    ...(words === "" ? [] : [`(${words})`]),
  ].join(" & ");
}
