// The one table of the editor's keys: what the canvas listens to, what the help lists, and what the guide shows.

interface ShortcutEntry {
  /** The keys, any of which will do: "mod" is Ctrl, or ⌘ on a Mac; the rest is the event's `key` in lower case. */
  keys: readonly string[];
  label: string;
  /** Works only while the focus is on the canvas, or nowhere. */
  isOnCanvas?: boolean;
  /** How the keys are shown where the spec above would not be readable. */
  shown?: readonly string[];
}

export const SHORTCUT_GROUPS = {
  Workflow: {
    run: { keys: ["mod+enter"], label: "Run, or stop the run" },
    publish: { keys: ["mod+s", "shift+p"], label: "Publish" },
    undo: { keys: ["mod+z"], label: "Undo" },
    redo: { keys: ["mod+shift+z", "mod+y"], label: "Redo" },
    find: { keys: ["mod+f"], label: "Search in canvas" },
    outline: { keys: ["o"], label: "Open the outline" },
    help: { keys: ["?"], label: "Keyboard shortcuts" },
    assistant: { keys: [], shown: ["mod+j"], label: "Open or close the assistant" },
    acceptProposal: { keys: [], shown: ["mod+shift+enter"], label: "Accept what the assistant proposes" },
  },
  Nodes: {
    add: { keys: ["n"], label: "Add a node after the selected one, or into the selected connection" },
    connect: { keys: ["c"], label: "Connect the selected node to another" },
    rename: { keys: ["f2"], label: "Rename the selected node, or write in the selected note" },
    disable: { keys: ["d"], label: "Disable or enable what is selected" },
    duplicate: { keys: ["mod+d"], label: "Duplicate what is selected" },
    remove: { keys: ["delete", "backspace"], label: "Delete what is selected", isOnCanvas: true },
    copy: { keys: [], shown: ["mod+c", "mod+x", "mod+v"], label: "Copy, cut, paste" },
    move: { keys: [], shown: ["arrows", "shift+arrows"], label: "Move what is selected, or further" },
    menu: { keys: ["shift+f10", "contextmenu"], label: "Everything that can be done with a node", isOnCanvas: true },
  },
  View: {
    walk: { keys: [], shown: ["tab", "shift+tab"], label: "Next or previous node or connection" },
    select: { keys: [], shown: ["enter"], label: "Select what has the focus" },
    selectAll: { keys: ["mod+a"], label: "Select everything", isOnCanvas: true },
    deselect: { keys: ["escape"], label: "Select nothing" },
    fit: { keys: ["!", "shift+1"], shown: ["shift+1"], label: "Fit to screen" },
    zoomIn: { keys: ["+", "="], shown: ["+"], label: "Zoom in" },
    zoomOut: { keys: ["-"], label: "Zoom out" },
    tidy: { keys: ["shift+t"], label: "Tidy up" },
    pointer: { keys: ["v"], label: "Select by dragging" },
    hand: { keys: ["h"], label: "Move the view by dragging" },
  },
  Outline: {
    outlineWalk: { keys: [], shown: ["up", "down", "home", "end"], label: "Go through the steps" },
    outlineFold: { keys: [], shown: ["left", "right"], label: "Close or open a group" },
    outlineType: { keys: [], shown: ["letters"], label: "Go to the step whose name begins so" },
    outlineOpen: { keys: [], shown: ["enter"], label: "Open the step’s settings" },
    outlineRename: { keys: [], shown: ["f2"], label: "Rename the step" },
    outlineInsert: { keys: [], shown: ["alt+n"], label: "Insert a step after it" },
    outlineMove: { keys: [], shown: ["alt+up", "alt+down"], label: "Move the step up or down" },
    outlineConnect: { keys: [], shown: ["alt+c"], label: "Connect the step to another" },
    outlineRemove: { keys: [], shown: ["delete"], label: "Delete the step" },
  },
} as const satisfies Record<string, Record<string, ShortcutEntry>>;

type Groups = typeof SHORTCUT_GROUPS;
export type ShortcutId = { [Group in keyof Groups]: keyof Groups[Group] }[keyof Groups];

const entries = Object.values(SHORTCUT_GROUPS).flatMap((group) => Object.entries(group)) as [ShortcutId, ShortcutEntry][];
const byId = new Map(entries);

/** What of a key press counts. */
export interface KeyPress {
  key: string;
  code: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

const isLetter = (key: string) => /^[a-z]$/.test(key);

function isPressed(spec: string, { key, code, ctrlKey, metaKey, altKey, shiftKey }: KeyPress): boolean {
  // "+" is a key of its own.
  const parts = spec === "+" ? ["+"] : spec.split("+");
  const wanted = parts.at(-1) ?? "";
  if (parts.includes("mod") !== (ctrlKey || metaKey) || altKey) return false;
  if (/^\d$/.test(wanted)) return shiftKey === parts.includes("shift") && code === `Digit${wanted}`;
  if (key.toLowerCase() !== wanted) return false;
  // Signs such as "?" need Shift on some keyboards and not on others.
  return wanted.length === 1 && !isLetter(wanted) ? true : shiftKey === parts.includes("shift");
}

/** The shortcut that was pressed, if any. */
export const shortcutOf = (pressed: KeyPress): ShortcutId | undefined =>
  entries.find(([, { keys }]) => keys.some((spec) => isPressed(spec, pressed)))?.[0];

export const isOnlyOnCanvas = (id: ShortcutId): boolean => byId.get(id)?.isOnCanvas === true;

/** True for a shortcut that is one character alone: speech input can type it by accident, so it can be switched off. */
export const isSingleKey = (id: ShortcutId): boolean =>
  byId.get(id)?.keys.some((spec) => spec.length === 1 || /^shift\+.$/.test(spec)) === true;

const NAMES: Record<string, string> = {
  ...{ shift: "Shift", alt: "Alt", enter: "Enter", escape: "Esc", delete: "Delete", backspace: "Backspace", tab: "Tab" },
  ...{ arrows: "Arrow keys", up: "Up", down: "Down", left: "Left", right: "Right", letters: "A … Z" },
  ...{ home: "Home", end: "End", contextmenu: "Menu", f2: "F2", f10: "F10", "-": "−" },
};

/**
 * The keys as people read them, e.g. `[["Ctrl", "Z"]]`: each inner list is pressed together, any of the outer will do.
 * @param mod "Ctrl", or "⌘" on a Mac
 */
export function keysOf(id: ShortcutId, mod: string): string[][] {
  const entry = byId.get(id);
  return (entry?.shown ?? entry?.keys ?? []).map((spec) =>
    (spec === "+" ? ["+"] : spec.split("+")).map((part) =>
      part === "mod" ? mod : (NAMES[part] ?? (isLetter(part) ? part.toUpperCase() : part)),
    ),
  );
}

const KEY = "treadle.single-keys";

/** Whether keys without Ctrl or ⌘ are listened to. Kept in the browser. */
export function hasSingleKeys(): boolean {
  try {
    return localStorage.getItem(KEY) !== "off";
  } catch {
    return true; // without storage there is nobody who could have switched them off
  }
}

export function setSingleKeys(isOn: boolean): void {
  try {
    localStorage.setItem(KEY, isOn ? "on" : "off");
  } catch {
    // Without storage (private window, full disk) they stay on.
  }
}
