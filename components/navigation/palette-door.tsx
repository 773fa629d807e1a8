"use client";

import { Search } from "lucide-react";
import { usePathname } from "next/navigation";
import { type ComponentProps, useEffect } from "react";
import { isComposing } from "#components/is-composing.ts";
import { closePalette, openPalette, setPaletteText, togglePalette, usePalette } from "#components/navigation/palette-state.ts";
import { useShownTitle } from "#components/shell/page.tsx";
import { rememberPage } from "#components/shell/recent-pages.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Kbd, MOD } from "#components/ui/kbd.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";

const Palette = loadedOnUse(() => import("#components/navigation/command-palette.tsx").then((module) => module.CommandPalette), Waiting);

/** Where the palette will be, on its way: what is typed meanwhile is kept. */
function Waiting() {
  const { text } = usePalette();
  return (
    <div role="dialog" aria-label="Search" className="fixed inset-0 z-50 flex justify-center bg-scrim p-4 pt-[12vh] max-sm:p-0">
      <input
        // biome-ignore lint/a11y/noAutofocus: the palette was asked for; typing goes into it at once
        autoFocus
        aria-label="Search"
        value={text}
        onChange={({ target }) => setPaletteText(target.value)}
        onKeyDown={(event) => event.key === "Escape" && !isComposing(event) && closePalette()}
        className="h-11 w-full max-w-160 rounded-lg border bg-raised pr-10 pl-9 text-14 text-ink shadow-lg outline-none max-sm:rounded-t-none pointer-coarse:text-16"
      />
    </div>
  );
}

/** The command palette over every page, once it is asked for; ⌘/Ctrl+K opens and closes it, also in the middle of a text. */
export function PaletteDoor() {
  const { isOpen } = usePalette();
  const { project } = useStudio();
  const path = usePathname();
  const title = useShownTitle();
  useEffect(() => {
    if (title?.path === path) rememberPage(project.id, title);
  }, [project.id, path, title]);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey) return;
      event.preventDefault();
      togglePalette();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
  return isOpen && <Palette />;
}

/** Opens the palette, where there is room for words. */
export const SearchButton = ({ onClick, ...rest }: Omit<ComponentProps<"button">, "className">) => (
  <button
    type="button"
    {...rest}
    onClick={(event) => {
      onClick?.(event);
      openPalette();
    }}
    className="flex h-8 w-full items-center gap-2.5 rounded-md px-2.5 text-14 text-ink-soft transition-colors hover:bg-hover hover:text-ink max-md:h-11"
  >
    <Search aria-hidden className="size-3.5 shrink-0" />
    <span className="rail:sr-only">Search</span>
    <span aria-hidden className="ml-auto flex gap-0.5 max-md:hidden rail:hidden">
      <Kbd>{MOD}</Kbd>
      <Kbd>K</Kbd>
    </span>
  </button>
);

/** The same on a phone's bar. */
export const SearchIconButton = () => (
  <IconButton label="Search" icon={<Search className="size-4!" />} size="lg" hasTooltip={false} className="size-10" onClick={openPalette} />
);
