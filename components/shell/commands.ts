"use client";

import type { LucideIcon } from "lucide-react";
import { useEffect, useId } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";

// What the command palette offers of the page that is open. It stands here because every page needs it, and the palette needs many pages.

/** Something that a page does. */
export interface Command {
  label: string;
  icon?: LucideIcon;
  /** The keys that do the same, such as ["⌘", "S"]. */
  shortcut?: readonly string[];
  run: () => void;
}

const registered = createStore<{ byPage: Readonly<Record<string, readonly Command[]>> }>(() => ({ byPage: {} }));

/** Offers what a page does in the command palette, as long as it is drawn. What cannot be done now is left out. */
export function useCommands(commands: readonly (Command | false)[]): void {
  const key = useId();
  // Each time it is drawn: what they do may depend on anything.
  useEffect(() => {
    latest.set(
      key,
      commands.filter((command): command is Command => command !== false),
    );
  });
  const shown = JSON.stringify(commands.map((command) => command && [command.label, command.shortcut]));
  // biome-ignore lint/correctness/useExhaustiveDependencies: as they are to be seen
  useEffect(() => {
    const own = (latest.get(key) ?? []).map((command, index) => ({ ...command, run: () => latest.get(key)?.[index]?.run() }));
    registered.setState(({ byPage }) => ({ byPage: { ...byPage, [key]: own } }));
    return () => registered.setState(({ byPage: { [key]: _, ...others } }) => ({ byPage: others }));
  }, [key, shown]);
  useEffect(() => () => void latest.delete(key), [key]);
}

const latest = new Map<string, readonly Command[]>();

/** What the open page does. */
export const usePageCommands = (): readonly Command[] => Object.values(useStore(registered, ({ byPage }) => byPage)).flat();
