"use client";

import { type RefObject, useEffect } from "react";
import type { ExternalToast } from "sonner";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";

const library = createStore<{ sonner: typeof import("sonner") | null }>(() => ({ sonner: null }));

/** No page is drawn with a toast. The first one is shown as soon as it can be. */
async function loadToasts() {
  const sonner = await import("sonner");
  library.setState({ sonner });
  return sonner;
}

let count = 0;
const show =
  (tone: "message" | "success" | "info" | "warning" | "error") =>
  (title: string, options?: ExternalToast): string | number => {
    const id = options?.id ?? `toast ${++count}`;
    loadToasts().then(
      ({ toast }) => toast[tone](title, { ...options, id }),
      () => {},
    );
    return id;
  };

/** Short confirmations, at the edge of the page. Errors that need reading belong in the page, not here. Each gives its id. */
export const toast = {
  message: show("message"),
  success: show("success"),
  info: show("info"),
  warning: show("warning"),
  error: show("error"),
  dismiss(id: string | number): void {
    loadToasts().then(
      ({ toast }) => toast.dismiss(id),
      () => {},
    );
  },
};

/** Where they appear. */
export function Toaster() {
  const sonner = useStore(library, (state) => state.sonner);
  useEffect(() => {
    // Before anything that somebody does here can fail: what there is to say may be that nothing can be loaded any more.
    const load = () => void loadToasts().catch(() => {});
    const first = { once: true, capture: true };
    addEventListener("pointerdown", load, first);
    addEventListener("keydown", load, first);
    return () => {
      removeEventListener("pointerdown", load, first);
      removeEventListener("keydown", load, first);
    };
  }, []);
  if (!sonner) return null;
  return (
    <sonner.Toaster
      position="bottom-right"
      style={{ fontFamily: "inherit" }}
      gap={8}
      // Beside what stands at the right of a page, which says how much that takes (--toasts-beside).
      offset={{ bottom: 16, right: "var(--toasts-beside, 16px)" }}
      // On a phone, what stands at the foot of a page says how much it takes (--toasts-above).
      mobileOffset={{ bottom: "var(--toasts-above, 12px)", left: 12, right: 12 }}
      toastOptions={{
        unstyled: true,
        classNames: {
          toast:
            "flex w-(--width) items-start gap-2.5 rounded-lg border border-line-strong bg-raised px-3.5 py-3 text-14 text-ink shadow-lg",
          title: "font-semibold",
          description: "text-ink-soft text-12",
          icon: "mt-0.5 size-4 shrink-0 [&>svg]:size-4",
          success: "[&_[data-icon]]:text-complete",
          error: "[&_[data-icon]]:text-failed",
          actionButton: "ml-auto shrink-0 rounded-md px-2 h-6 font-semibold text-14 text-thread-text hover:bg-hover",
        },
      }}
    />
  );
}

/** Between toasts and what they stand above, in pixels. */
const GAP = 8;

/** Keeps toasts on a phone above this element, which stands at the foot of its page: they would cover it. */
export function useToastsAbove(element: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const bar = element.current;
    const area = bar?.offsetParent;
    if (!bar || !area) return;
    const { style } = document.documentElement;
    const place = () => {
      const { top, height } = bar.getBoundingClientRect();
      // In a tab that is not shown it takes nothing.
      if (height > 0) style.setProperty("--toasts-above", `${Math.max(0, innerHeight - top) + GAP}px`);
      else style.removeProperty("--toasts-above");
    };
    const observer = new ResizeObserver(place);
    observer.observe(bar);
    observer.observe(area);
    return () => {
      observer.disconnect();
      style.removeProperty("--toasts-above");
    };
  }, [element]);
}
