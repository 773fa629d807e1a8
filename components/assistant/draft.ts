import type { MessageContext, MessageMode } from "#server/features/assistant/schema.ts";
import { filterByText, foldAccents } from "#server/shared/fold-text.ts";

type Kind = NonNullable<MessageContext["mentions"]>[number]["kind"];

/** Something that a message names with @. */
export interface Mention {
  kind: Kind;
  id: string;
  name: string;
}

/** A message that is being written. */
export interface Draft {
  text: string;
  /** What was named; some of it may have been taken out of the text since. */
  mentions: Mention[];
  mode: MessageMode;
}

export const NO_DRAFT: Draft = { text: "", mentions: [], mode: "build" };

/** The query that the caret stands in: what follows an @ at the beginning of a word, and is no name yet; null where there is none. */
export function mentionAt({ text, mentions }: Pick<Draft, "text" | "mentions">, caret: number): { from: number; query: string } | null {
  const [, query] = /(?:^|[\s(])@([^@\n]{0,60})$/.exec(text.slice(0, caret)) ?? [];
  if (query === undefined || mentions.some(({ name }) => query.startsWith(name) && query !== name)) return null;
  return { from: caret - query.length - 1, query };
}

/** The draft with what was chosen in place of the query at `from`, and where the caret goes. */
export function withMention(draft: Draft, from: number, caret: number, mention: Mention): { draft: Draft; caret: number } {
  const written = `@${mention.name} `;
  const text = `${draft.text.slice(0, from)}${written}${draft.text.slice(caret).replace(/^ /, "")}`;
  const others = draft.mentions.filter(({ kind, id }) => kind !== mention.kind || id !== mention.id);
  return { draft: { ...draft, text, mentions: [...others, mention] }, caret: from + written.length };
}

/** What the text still names. */
export const mentionsIn = ({ text, mentions }: Draft): Mention[] => mentions.filter(({ name }) => text.includes(`@${name}`));

/** The draft without one of them. */
export function withoutMention(draft: Draft, { kind, id, name }: Mention): Draft {
  const text = draft.text.replaceAll(`@${name} `, "").replaceAll(`@${name}`, "");
  return { ...draft, text, mentions: draft.mentions.filter((other) => other.kind !== kind || other.id !== id) };
}

/** Two messages as one, in the mode of the second: e.g. what could not be sent, and below it what was written since. */
export function joined(first: Draft, second: Draft): Draft {
  return {
    text: [first.text, second.text].filter((text) => text !== "").join("\n"),
    mentions: [...new Map([...first.mentions, ...second.mentions].map((named) => [`${named.kind} ${named.id}`, named])).values()],
    mode: second.mode,
  };
}

/** How many of a kind a list shows. */
const MOST_OF_A_KIND = 6;

/** Those whose names fit a query, those that begin with it first, a few of each kind. */
export function matching(mentions: readonly Mention[], query: string): Mention[] {
  const wanted = foldAccents(query.trim());
  const groups = Map.groupBy(
    filterByText(mentions, query, ({ name }) => name),
    ({ kind }) => kind,
  );
  const begins = ({ name }: Mention) => (foldAccents(name).startsWith(wanted) ? 0 : 1);
  return [...groups.values()].flatMap((group) => group.toSorted((a, b) => begins(a) - begins(b)).slice(0, MOST_OF_A_KIND));
}

const KEY = "treadle.assistant.draft";

/** The message that somebody has begun in a project, on this browser. */
export function readDraft(projectId: string): Draft {
  try {
    const kept: Partial<Draft> | undefined = JSON.parse(localStorage.getItem(`${KEY}.${projectId}`) ?? "{}");
    return {
      text: typeof kept?.text === "string" ? kept.text : "",
      mentions: Array.isArray(kept?.mentions) ? kept.mentions : [],
      mode: kept?.mode === "ask" ? "ask" : "build",
    };
  } catch {
    return NO_DRAFT;
  }
}

export function keepDraft(projectId: string, draft: Draft): void {
  try {
    localStorage.setItem(`${KEY}.${projectId}`, JSON.stringify(draft));
  } catch {
    // Without storage it lasts until the page closes.
  }
}
