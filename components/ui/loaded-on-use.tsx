"use client";

import { RotateCw } from "lucide-react";
import dynamic from "next/dynamic";
import { type ComponentType, createContext, useCallback, useContext, useEffect, useState } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";

const Nothing = () => null;

/** What a part that is on its way was given, and how to ask for it again. */
const Asked = createContext<{ props: object; tryAgain: () => void }>({ props: {}, tryAgain: () => {} });

/** What asks again for each part that did not come. */
const missing = createStore<{ parts: readonly (() => void)[] }>(() => ({ parts: [] }));

/** For parts that did not come: one notice over the page, however many they are, since a menu has no place of its own to say it. */
function Missing() {
  const { tryAgain } = useContext(Asked);
  const isShown = useStore(missing, ({ parts }) => parts[0] === tryAgain);
  useEffect(() => {
    missing.setState(({ parts }) => ({ parts: [...parts, tryAgain] }));
    return () => missing.setState(({ parts }) => ({ parts: parts.filter((part) => part !== tryAgain) }));
  }, [tryAgain]);
  if (!isShown) return null;
  const tryAll = () => {
    for (const part of missing.getState().parts) part();
  };
  // A popover of the browser lies over the window, wherever in the page its part stands: a menu that is moved into its place would take
  // it along.
  return (
    <div
      popover="manual"
      ref={(element) => element?.showPopover()}
      className="inset-auto bottom-4 left-1/2 w-80 max-w-[calc(100vw-2rem)] -translate-x-1/2 rounded-md shadow-lg"
    >
      <Notice
        tone="failed"
        actions={
          <Button size="sm" icon={<RotateCw />} onClick={tryAll}>
            Try again
          </Button>
        }
      >
        A part of this page could not be loaded. Check the connection.
      </Notice>
    </div>
  );
}

/**
 * A part of a page that is loaded when it is first drawn. What is around it goes on meanwhile; next/dynamic alone, with nothing to
 * show instead, holds back all that is to be drawn until then. One that does not come says so, and can be asked for again: nothing
 * else of the page is lost with it.
 * @param Loading drawn in its place, given the same; left out, nothing
 */
export function loadedOnUse<Props extends object>(load: () => Promise<ComponentType<Props>>, Loading: ComponentType<Props> = Nothing) {
  // cast: asked for by the part that this stands in for
  const InPlace = () => <Loading {...(useContext(Asked).props as Props)} />;
  // What could not be loaded once is kept as such by React, so whoever looks next gets a new one.
  const begin = (): ComponentType<Props> =>
    dynamic<Props>(
      () =>
        load().catch(() => {
          latest = begin();
          return Missing;
        }),
      { loading: () => <InPlace /> },
    );
  let latest = begin();
  return function LoadedOnUse(props: Props) {
    const [Part, setPart] = useState(() => latest);
    const tryAgain = useCallback(() => setPart(() => latest), []);
    return (
      <Asked value={{ props, tryAgain }}>
        <Part {...props} />
      </Asked>
    );
  };
}
