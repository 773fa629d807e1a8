"use client";

import type { ExternalToast } from "sonner";
import { useLoadedSoon } from "#components/ui/use-loaded-soon.ts";

// No page is drawn with one. What is told before they are there is shown as soon as they are.
const loadToasts = () => import("sonner");

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
  const toasts = useLoadedSoon(loadToasts);
  if (!toasts) return null;
  return (
    <toasts.Toaster
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
            "flex w-(--width) items-start gap-2.5 rounded-lg border border-line-strong bg-raised px-3.5 py-3 text-13 text-ink shadow-lg",
          title: "font-medium",
          description: "text-ink-soft text-12",
          icon: "mt-0.5 size-4 shrink-0 [&>svg]:size-4",
          success: "[&_[data-icon]]:text-complete",
          error: "[&_[data-icon]]:text-failed",
          actionButton: "ml-auto shrink-0 rounded-md px-2 h-6 font-medium text-12 text-thread-text hover:bg-hover",
        },
      }}
    />
  );
}
