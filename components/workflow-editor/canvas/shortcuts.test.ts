import { expect, test } from "vitest";
import {
  isSingleKey,
  type KeyPress,
  keysOf,
  SHORTCUT_GROUPS,
  type ShortcutId,
  shortcutOf,
} from "#components/workflow-editor/canvas/shortcuts.ts";

const none = { code: "", ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
const press = (key: string, more: Partial<KeyPress> = {}) => shortcutOf({ ...none, key, ...more });

test("keys are told apart by what is held with them", () => {
  expect(press("z", { ctrlKey: true })).toBe("undo");
  expect(press("Z", { metaKey: true, shiftKey: true })).toBe("redo");
  expect(press("d")).toBe("disable");
  expect(press("d", { ctrlKey: true })).toBe("duplicate");
  expect(press("t")).toBeUndefined();
  expect(press("T", { shiftKey: true })).toBe("tidy");
  expect(press("n", { altKey: true })).toBeUndefined();
});

test("a sign counts wherever a keyboard has it", () => {
  expect(press("?", { shiftKey: true })).toBe("help");
  expect(press("?")).toBe("help");
  expect(press("+", { shiftKey: true })).toBe("zoomIn");
  expect(press("!", { shiftKey: true, code: "Digit1" })).toBe("fit");
  expect(press("&", { shiftKey: true, code: "Digit1" })).toBe("fit");
  expect(press("+", { ctrlKey: true })).toBeUndefined();
});

test("no two shortcuts share a key, and each is shown", () => {
  const ids = Object.values(SHORTCUT_GROUPS).flatMap((group) => Object.keys(group) as ShortcutId[]);
  const specs = Object.values(SHORTCUT_GROUPS).flatMap((group) => Object.values(group).flatMap(({ keys }) => keys as readonly string[]));
  expect(new Set(specs).size).toBe(specs.length);
  expect(ids.filter((id) => keysOf(id, "Ctrl").length === 0)).toEqual([]);
});

test("what is one character alone can be switched off", () => {
  expect(["add", "help", "tidy", "fit"].every((id) => isSingleKey(id as ShortcutId))).toBe(true);
  expect(["undo", "rename", "remove", "deselect", "menu"].some((id) => isSingleKey(id as ShortcutId))).toBe(false);
});

test("keys are shown as they stand on a keyboard", () => {
  expect(keysOf("redo", "⌘")).toEqual([
    ["⌘", "Shift", "Z"],
    ["⌘", "Y"],
  ]);
  expect(keysOf("zoomIn", "Ctrl")).toEqual([["+"]]);
});
