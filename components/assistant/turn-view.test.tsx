import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import type { Turn } from "#components/assistant/thread-of.ts";
import { TurnView } from "#components/assistant/turn-view.tsx";
import type { FailureCode } from "#server/features/assistant/schema.ts";

const failed: Turn = {
  ...{ id: "m", content: "Build it", mode: "build", context: {}, attached: [], created_at: "2026-11-21T08:00:00.000Z" },
  // Words of none of the codes.
  ...{ parts: [], status: "failed", error: "It did not work.", code: null, usage: null },
};

test.each<[FailureCode, string[]]>([
  ["cut_off", ["Go on"]],
  ["bound", ["Go on"]],
  ["settings", ["Try again", "Open settings"]],
  ["provider", ["Try again", "Open settings"]],
  ["refused", ["Try again"]],
  ["internal", ["Try again"]],
])("what a message that failed offers follows from its code: %s", (code, wanted) => {
  const html = renderToStaticMarkup(<TurnView turn={{ ...failed, code }} onAsk={() => undefined} isLast />);
  expect(html).toContain("It did not work.");
  const offered = ["Go on", "Try again", "Open settings"].filter((name) => html.includes(name));
  expect(offered).toEqual(wanted);
});
