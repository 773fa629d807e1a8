import { expect, test } from "vitest";
import { isUnderWay, openQuestion, progressOf, textOf, threadOf } from "#components/assistant/thread-of.ts";
import type { ThreadEvent } from "#server/features/assistant/schema.ts";

type Told = ThreadEvent extends infer Event ? (Event extends ThreadEvent ? Omit<Event, "message_id"> : never) : never;

/** Events of one message as a thread numbers them. */
const numbered = (events: readonly Told[], message_id = "m1", from = 1) =>
  events.map((event, index) => ({ seq: from + index, event: { ...event, message_id } as ThreadEvent }));

const asked: Told = { type: "message", content: "Why?", mode: "build", context: {}, attached: [], created_at: "2026-11-23T08:00:00.000Z" };
const started: Told = { type: "message_started" };
const text = (words: string): Told => ({ type: "text_delta", text: words });
const call = (id: string, name = "get_run"): Told => ({ type: "tool_call", id, name, arguments: { q: id } });
const result = (id: string, ok = true): Told => ({ type: "tool_result", id, name: "get_run", ok, summary: `Read ${id}` });

const one = (events: readonly Told[]) => {
  const turn = threadOf(numbered([asked, ...events])).turns[0];
  if (!turn) throw new Error("There is no turn.");
  return turn;
};

test("text, tools and cards of a message stand in their order, and results find their calls", () => {
  const turn = one([
    started,
    text("Let me "),
    text("look."),
    call("a"),
    call("b"),
    result("b", false),
    result("a"),
    text("Found."),
    { type: "message_done" },
  ]);
  expect(turn).toMatchObject({ content: "Why?", status: "done", error: null });
  expect(turn.parts).toEqual([
    { kind: "text", text: "Let me look." },
    { kind: "tool", id: "a", name: "get_run", args: { q: "a" }, answer: { ok: true, summary: "Read a", refs: {} } },
    { kind: "tool", id: "b", name: "get_run", args: { q: "b" }, answer: { ok: false, summary: "Read b", refs: {} } },
    { kind: "text", text: "Found." },
  ]);
  expect(textOf(turn)).toBe("Let me look.\n\nFound.");
});

test("an id that a later round uses again means the later call", () => {
  const { parts } = one([started, call("a"), result("a"), call("a"), result("a", false)]);
  expect(parts.map((part) => part.kind === "tool" && part.answer?.ok)).toEqual([true, false]);
});

test("a call of the model that is tried again takes back only what was said since the last tool", () => {
  const { parts } = one([started, text("Kept."), call("a"), result("a"), text("Half a sen"), { type: "text_reset" }, text("Whole.")]);
  expect(parts.map((part) => part.kind === "text" && part.text)).toEqual(["Kept.", false, "Whole."]);
  expect(one([started, call("a"), result("a"), { type: "text_reset" }]).parts).toHaveLength(1);
});

test("a replay that overlaps with what is there changes nothing, and one goes on where the other ended", () => {
  const events = numbered([asked, started, text("One "), text("two "), text("three")]);
  const part = threadOf(events.slice(0, 4));
  expect(threadOf(events, part)).toEqual(threadOf(events));
  expect(threadOf([...events, ...events])).toEqual(threadOf(events));
});

test("messages that are written meanwhile are queued, and each gets only its own events", () => {
  const first = numbered([asked, started, text("A")]);
  const second = numbered([{ ...asked, content: "And?" } as Told], "m2", 4);
  const state = threadOf([...first, ...second, ...numbered([text("B"), { type: "message_done" }], "m1", 5)]);
  expect(state.turns.map(({ content, status }) => `${content} ${status}`)).toEqual(["Why? done", "And? queued"]);
  expect(state.turns.map(isUnderWay)).toEqual([false, true]);
  expect(state.turns[1]?.parts).toEqual([]);
});

test("a message waits while a question is open, and goes on when it is answered", () => {
  const question: Told = { type: "question", id: "q1", text: "Which?", options: ["A", "B"] };
  expect(one([started, question])).toMatchObject({ status: "waiting" });
  expect(openQuestion([one([started, question])])?.text).toBe("Which?");
  const answered = one([started, question, { type: "decided", id: "q1", outcome: "answered", answer: "B" }]);
  expect(answered).toMatchObject({ status: "working", parts: [{ kind: "question", ending: { outcome: "answered", answer: "B" } }] });
  expect(openQuestion([answered])).toBeUndefined();
});

test("what came of a call stands after the card that it waited for", () => {
  const card: Told = { type: "confirmation", id: "c1", action: "Run it", summary: "Here", details: [] };
  const { parts } = one([
    started,
    call("a"),
    result("a"),
    call("b"),
    card,
    { type: "decided", id: "c1", outcome: "approved" },
    result("b"),
  ]);
  expect(parts.map((part) => ("id" in part ? part.id : part.kind))).toEqual(["a", "c1", "b"]);
  expect(parts.at(-1)).toMatchObject({ kind: "tool", answer: { ok: true } });
});

test("of two cards that are open it waits for both", () => {
  const confirmation = (id: string): Told => ({ type: "confirmation", id, action: "Run it", summary: "Here", details: [] });
  const decide = (id: string): Told => ({ type: "decided", id, outcome: "approved" });
  const events = [started, confirmation("c1"), confirmation("c2"), decide("c1")];
  expect(one(events).status).toBe("waiting");
  expect(one([...events, decide("c2")]).status).toBe("working");
});

test("a decision reaches a proposal of an earlier message, long after it has ended", () => {
  const proposal: Told = { type: "proposal", id: "p1", workflow_id: "w", summary: "Adds a review", status: "open", problems: [] };
  const events = [...numbered([asked, started, proposal, { type: "message_done" }]), ...numbered([asked], "m2", 5)];
  const state = threadOf([...events, ...numbered([{ type: "decided", id: "p1", outcome: "accepted" }], "m2", 6)]);
  expect(state.turns[0]).toMatchObject({ status: "done", parts: [{ kind: "proposal", status: "accepted" }] });
  expect(state.turns[1]).toMatchObject({ status: "queued", parts: [] });
});

test("what was said before a stop or a fault is kept", () => {
  const failed = (stopped: boolean): Told => ({
    type: "message_failed",
    error: "The key was refused.",
    code: stopped ? "stopped" : "settings",
    stopped,
  });
  expect(one([started, text("So far"), failed(true)])).toMatchObject({ status: "stopped", error: null, parts: [{ text: "So far" }] });
  expect(one([started, failed(false)])).toMatchObject({ status: "failed", error: "The key was refused." });
});

test("a message that was stopped before it began was taken back", () => {
  const stopped: Told = { type: "message_failed", error: "Stopped.", code: "stopped", stopped: true };
  expect(one([stopped]).status).toBe("taken_back");
  expect(one([started, stopped]).status).toBe("stopped");
});

test("a proposal that a newer one replaces is not called rejected, and one that somebody rejected is", () => {
  const proposal = (id: string, workflow_id = "w"): Told => ({
    type: "proposal",
    id,
    workflow_id,
    summary: id,
    status: "open",
    problems: [],
  });
  const rejected = (id: string): Told => ({ type: "decided", id, outcome: "rejected" });
  const statuses = (...events: Told[]) =>
    one([started, ...events]).parts.map((part) => (part.kind === "proposal" ? part.status : part.kind));
  expect(statuses(proposal("p1"), rejected("p1"), proposal("p2"))).toEqual(["replaced", "open"]);
  expect(statuses(proposal("p1"), rejected("p1"), call("a"), proposal("p2"))).toEqual(["rejected", "tool", "open"]);
  expect(statuses(proposal("p1"), rejected("p1"), proposal("p2", "other"))).toEqual(["rejected", "open"]);
});

test("the cost so far is that of the last count", () => {
  const usage = (input_tokens: number, cost: number | null): Told => ({ type: "usage", input_tokens, output_tokens: 5, cost });
  expect(one([started]).usage).toBeNull();
  expect(one([started, usage(10, 0.1), usage(30, null)]).usage).toEqual({ input_tokens: 30, output_tokens: 5, cost: null });
});

test("a word says what it is doing", () => {
  const word = (...events: Told[]) => progressOf(one(events));
  expect(word()).toBeNull();
  expect(word(started)).toBe("Planning…");
  expect(word(started, text("Well"))).toBe("");
  expect(word(started, call("a", "propose_changes"))).toBe("Building…");
  expect(word(started, call("a", "run_workflow"))).toBe("Running…");
  expect(word(started, call("a", "list_agents"))).toBe("Looking…");
  expect(word(started, call("a"), result("a"))).toBe("Thinking…");
  expect(word(started, { type: "message_done" })).toBeNull();
});
