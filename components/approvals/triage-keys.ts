"use client";

import { useEffect, useEffectEvent } from "react";

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
