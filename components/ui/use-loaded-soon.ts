import { type ReactNode, useEffect, useState } from "react";

/** How long after a page is drawn that is loaded which it need not be drawn with, in milliseconds. */
const SOON_MS = 900;

/**
 * What a page needs soon after it is drawn, and not for that.
 * @param load the same function every time
 * @returns what it gave; null until then, and where it cannot be loaded
 */
export function useLoadedSoon<Loaded>(load: () => Promise<Loaded>): Loaded | null {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  useEffect(() => {
    let isOver = false;
    const timer = setTimeout(() => {
      load().then(
        (value) => isOver || setLoaded(() => value),
        () => {},
      );
    }, SOON_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [load]);
  return loaded;
}

/** Draws with what a page needs soon after it is drawn, without drawing again what is around it. */
export function LoadedSoon<Loaded>({
  load,
  children,
}: {
  load: () => Promise<Loaded>;
  children: (loaded: Loaded) => ReactNode;
}): ReactNode {
  const loaded = useLoadedSoon(load);
  return loaded === null ? null : children(loaded);
}
