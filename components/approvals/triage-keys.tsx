"use client";

import { useEffect, useEffectEvent } from "react";
import { Dialog } from "#components/ui/dialog.tsx";
import { Kbd } from "#components/ui/kbd.tsx";

/** What can be done from the keyboard on the page of approvals. */
export interface TriageActions {
  move(step: 1 | -1): void;
  /** Gives the answer that approves or rejects, or the choice at a place. */
  answer(which: "approve" | "reject" | number): void;
  edit(): void;
  select(): void;
  undo(): void;
  help(): void;
}

const KEYS: readonly [keys: readonly string[], words: string][] = [
  [["j", "↓"], "Next review"],
  [["k", "↑"], "The one before"],
  [["a"], "Approve"],
  [["r"], "Reject"],
  [["1", "2", "3", "4"], "The first, second, … choice"],
  [["e"], "Edit the text, or write a comment"],
  [["x"], "Select it, for several at once"],
  [["u"], "Undo"],
  [["?"], "This list"],
];

/** True where keys are for what has the focus. */
const isTaken = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.closest("input:not([type=checkbox]), textarea, select, [role=dialog], [role=listbox], [role=menu], [role=combobox]") !== null);

const ARROWS: Record<string, string> = { ArrowDown: "j", ArrowUp: "k" };

/** Listens to the keys of the page while nobody types. */
export function useTriageKeys(actions: TriageActions): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTaken(event.target)) return;
    const key = ARROWS[event.key] ?? event.key;
    const act: (() => void) | undefined = {
      j: () => actions.move(1),
      k: () => actions.move(-1),
      a: () => actions.answer("approve"),
      r: () => actions.answer("reject"),
      e: actions.edit,
      x: actions.select,
      u: actions.undo,
      "?": actions.help,
    }[key];
    const place = /^[1-4]$/.test(event.key) ? Number(event.key) - 1 : undefined;
    if (!act && place === undefined) return;
    // Tabs are walked by arrows, too.
    if (event.key.startsWith("Arrow") && event.target instanceof HTMLElement && event.target.role === "tab") return;
    event.preventDefault();
    // A key that is held moves on, and does nothing else again and again: nobody reads that fast.
    if (event.repeat && key !== "j" && key !== "k") return;
    if (act) act();
    else if (place !== undefined) actions.answer(place);
  });
  useEffect(() => {
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

export const TriageHelp = ({ onClose }: { onClose: () => void }) => (
  <Dialog onClose={onClose} title="Keys" size="sm">
    <dl className="grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-2 text-14">
      {KEYS.map(([keys, words]) => (
        <div key={words} className="contents">
          <dt className="flex gap-1">
            {keys.map((key) => (
              <Kbd key={key}>{key}</Kbd>
            ))}
          </dt>
          <dd>{words}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
);
