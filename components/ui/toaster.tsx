"use client";

import { Toaster as Sonner } from "sonner";

/** Where short confirmations appear. Errors that need reading belong in the page, not here. */
export function Toaster() {
  return (
    <Sonner
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
