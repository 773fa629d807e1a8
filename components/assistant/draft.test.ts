import { expect, test } from "vitest";
import { type Draft, joined, matching, mentionAt, mentionsIn, NO_DRAFT, withMention, withoutMention } from "#components/assistant/draft.ts";

const digest = { kind: "workflow", id: "w1", name: "Daily digest" } as const;
const writer = { kind: "agent", id: "a1", name: "Writer" } as const;
const draft = (text: string): Draft => ({ ...NO_DRAFT, text });

test("an @ at the beginning of a word begins a query; one in an address does not", () => {
  expect(mentionAt(draft("Look at @dai"), 12)).toEqual({ from: 8, query: "dai" });
  expect(mentionAt(draft("@"), 1)).toEqual({ from: 0, query: "" });
  expect(mentionAt(draft("(@daily di"), 10)).toEqual({ from: 1, query: "daily di" });
  expect(mentionAt(draft("ada@example"), 11)).toBeNull();
  expect(mentionAt(draft("@dai\nmore"), 9)).toBeNull();
  expect(mentionAt(draft("Look at @dai"), 4)).toBeNull();
  const named = { text: "@Daily digest and", mentions: [digest] };
  expect(mentionAt(named, 13)).toEqual({ from: 0, query: "Daily digest" });
  expect(mentionAt(named, 14)).toBeNull();
  expect(mentionAt(named, 17)).toBeNull();
});

test("what is chosen stands in the text in place of the query, once, and the caret behind it", () => {
  const chosen = withMention(draft("Ask @wri about tea"), 4, 8, writer);
  expect(chosen).toEqual({ draft: { ...NO_DRAFT, text: "Ask @Writer about tea", mentions: [writer] }, caret: 12 });
  const twice = withMention(chosen.draft, 21, 21, writer);
  expect(twice.draft.mentions).toEqual([writer]);
});

test("what was taken out of the text is not attached, and taking it off takes it out of the text", () => {
  const { draft: both } = withMention(withMention(draft("@d"), 0, 2, digest).draft, 14, 14, writer);
  expect(both.text).toBe("@Daily digest @Writer ");
  expect(mentionsIn({ ...both, text: "@Writer, hello" })).toEqual([writer]);
  expect(withoutMention(both, digest)).toMatchObject({ text: "@Writer ", mentions: [writer] });
});

test("what could not be sent comes before what was written since, with what both name once", () => {
  const unsent: Draft = { ...NO_DRAFT, text: "@Writer, hello", mentions: [writer] };
  expect(joined(unsent, NO_DRAFT)).toEqual(unsent);
  const since: Draft = { text: "And @Writer", mentions: [writer, digest], mode: "ask" };
  expect(joined(unsent, since)).toEqual({ text: "@Writer, hello\nAnd @Writer", mentions: [writer, digest], mode: "ask" });
});

test("names that begin with the query come first, and each kind gets its share", () => {
  const many = Array.from({ length: 9 }, (_, index) => ({ kind: "run", id: `r${index}`, name: `Nightly run ${index}` }) as const);
  expect(matching([digest, writer, ...many], "").map(({ kind }) => kind)).toEqual(["workflow", "agent", ...Array(6).fill("run")]);
  expect(
    matching(
      [
        { ...digest, name: "My digest" },
        { ...digest, id: "w2", name: "Digest" },
      ],
      "dig",
    ).map(({ id }) => id),
  ).toEqual(["w2", "w1"]);
  expect(matching([digest], "zzz")).toEqual([]);
});

test("lists mentions with the accents of the query first", () => {
  const named = (name: string) => ({ kind: "agent", id: name, name }) as const;

  expect(matching([named("Le cafe"), named("Un Café")], "café").map(({ name }) => name)).toEqual(["Un Café", "Le cafe"]);
});
