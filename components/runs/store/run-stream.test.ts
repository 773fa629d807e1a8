import { expect, test } from "vitest";
import type { EventLine, LineState } from "#components/event-line.ts";
import { followRun } from "#components/runs/store/run-stream.ts";

type Listener = (event: { data?: string; lastEventId?: string }) => void;

/** Lines that deliver and break when told. */
function setUp() {
  const lines: {
    url: string;
    line: EventLine;
    isClosed: boolean;
    tell: (type: string, event?: { data?: string; lastEventId?: string }) => void;
  }[] = [];
  const timers: { run: () => void; ms: number }[] = [];
  const seen: string[] = [];
  const states: LineState[] = [];
  const hangUp = followRun({
    executionId: "x",
    after: 3,
    onEvent: (id, event) => seen.push(`${id} ${event.type}`),
    onLine: (state) => states.push(state),
    setTimer: (run, ms) => timers.push({ run, ms }),
    openLine(url) {
      const listeners = new Map<string, Listener>();
      const line: EventLine = {
        readyState: 0,
        addEventListener: (type, listener) => void listeners.set(type, listener),
        close: () => {
          entry.isClosed = true;
        },
      };
      const entry = { url, line, isClosed: false, tell: (type: string, event = {}) => listeners.get(type)?.(event) };
      lines.push(entry);
      return line;
    },
  });
  const tell = (id: number, type: string, data: object) =>
    lines.at(-1)?.tell(type, {
      lastEventId: `${id}`,
      data: JSON.stringify({ type, execution_id: "x", timestamp: "2026-11-21T08:00:00.000Z", ...data }),
    });
  return { lines, timers, seen, states, hangUp, tell };
}

test("follows from the number given, and closes at the one terminal event", () => {
  const { lines, seen, states, tell } = setUp();
  expect(lines[0]?.url).toBe("/api/v1/bridge/executions/x/stream?last_event_id=3");
  lines[0]?.tell("open");
  tell(4, "node_skipped", { node_id: "a" });
  tell(5, "execution_complete", { status: "completed", duration_ms: 1, output: null });
  tell(6, "node_skipped", { node_id: "b" });
  expect(seen).toEqual(["4 node_skipped", "5 execution_complete"]);
  expect(lines[0]?.isClosed).toBe(true);
  expect(states).toEqual(["connecting", "open", "closed"]);
});

test("a dropped line that the browser mends is only shown", () => {
  const { lines, timers, states } = setUp();
  lines[0]?.tell("open");
  lines[0]?.tell("error");
  lines[0]?.tell("open");
  expect(states).toEqual(["connecting", "open", "reconnecting", "open"]);
  expect(timers).toEqual([]);
});

test("where the browser gives up, a new line goes on after the last event, after growing waits", () => {
  const { lines, timers, tell } = setUp();
  tell(9, "node_skipped", { node_id: "a" });
  for (const ms of [1000, 2000, 4000]) {
    const last = lines.at(-1);
    if (last) last.line.readyState = 2;
    last?.tell("error");
    expect(timers.at(-1)?.ms).toBe(ms);
    timers.at(-1)?.run();
  }
  expect(lines.at(-1)?.url).toContain("last_event_id=9");
});

test("an unknown or unreadable event is passed over", () => {
  const { lines, seen, tell } = setUp();
  tell(4, "node_dreams", {});
  lines[0]?.tell("node_skipped", { lastEventId: "5", data: "{" });
  tell(6, "node_skipped", { node_id: "a" });
  expect(seen).toEqual(["6 node_skipped"]);
});

test("after hanging up nothing more is told", () => {
  const { lines, seen, states, hangUp, tell } = setUp();
  hangUp();
  tell(4, "node_skipped", { node_id: "a" });
  lines[0]?.tell("error");
  expect(seen).toEqual([]);
  expect(states).toEqual(["connecting"]);
});
