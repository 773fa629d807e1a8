import { expect, test } from "vitest";
import { isComposing } from "#components/is-composing.ts";

test.each([
  ["Enter within a composition", { isComposing: true, keyCode: 13 }, true],
  ["Enter that Safari sends behind a composition", { isComposing: false, keyCode: 229 }, true],
  ["Enter alone", { isComposing: false, keyCode: 13 }, false],
])("%s", (_, nativeEvent, result) => {
  expect([isComposing(nativeEvent), isComposing({ nativeEvent })]).toEqual([result, result]);
});
