"use client";

import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { type ReactNode, useRef } from "react";
import { isComposing } from "#components/is-composing.ts";
import { cn } from "#components/ui/cn.ts";
import { stayWhereFocusIs } from "#components/ui/focus.ts";
import { IconButton } from "#components/ui/icon-button.tsx";

const SIZES = { sm: "max-w-100", md: "max-w-130", lg: "max-w-190" } as const;

export interface DialogProps {
  onClose: () => void;
  title: string;
  /** One sentence under the title, only where the title does not say it all. */
  description?: ReactNode;
  size?: keyof typeof SIZES;
  /** False leaves only the dialog's own buttons to close it, e.g. while it shows a key that is shown once. */
  isDismissable?: boolean;
  children: ReactNode;
}

/** A modal dialog, open as long as it is rendered. Put the buttons in a DialogFooter as the last child. */
export function Dialog({ onClose, title, description, size = "md", isDismissable = true, children }: DialogProps) {
  const focusReturn = useFocusReturn();
  const guard = (event: Event) => {
    if (!isDismissable) event.preventDefault();
  };
  return (
    <Radix.Root open onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-50 grid animate-appear grid-cols-[minmax(0,1fr)] place-items-center overflow-y-auto bg-scrim p-4 max-sm:place-items-end max-sm:p-0">
          <Radix.Content
            {...(description === undefined && { "aria-describedby": undefined })}
            {...focusReturn}
            onEscapeKeyDown={(event) => (isComposing(event) ? event.preventDefault() : guard(event))}
            onInteractOutside={guard}
            className={cn(
              "relative flex w-full animate-rise flex-col gap-4 rounded-lg border border-line-strong bg-raised p-5 shadow-lg max-sm:rounded-b-none max-sm:pb-8",
              SIZES[size],
            )}
          >
            <div className="flex items-start justify-between gap-4">
              <div className="flex min-w-0 flex-col gap-1">
                <Radix.Title className="font-semibold text-18 text-ink">{title}</Radix.Title>
                {description !== undefined && <Radix.Description className="text-14 text-ink-soft">{description}</Radix.Description>}
              </div>
              {isDismissable && (
                <Radix.Close asChild>
                  <IconButton label="Close" icon={<X />} hasTooltip={false} className="-mt-1 -mr-1.5" />
                </Radix.Close>
              )}
            </div>
            {children}
          </Radix.Content>
        </Radix.Overlay>
      </Radix.Portal>
    </Radix.Root>
  );
}

export function DialogFooter({ className, children }: { className?: string; children: ReactNode }) {
  return <div className={cn("flex flex-wrap items-center justify-end gap-2 pt-1", className)}>{children}</div>;
}

const DIALOG = "[role=dialog], [role=alertdialog]";

/** What last had the focus outside of dialogs: a field that takes it by `autoFocus` is focused before anybody could look. */
let outside: Element | null = null;
if (typeof document !== "undefined")
  document.addEventListener("focusin", ({ target }) => {
    if (target instanceof Element && !target.closest(DIALOG)) outside = target;
  });

/**
 * For a dialog that no trigger of Radix opened: gives the focus back to what had it before. To be spread over the content.
 */
export function useFocusReturn() {
  const before = useRef<Element | null>(null);
  return {
    // Told before Radix moves the focus into the dialog; not at all when a field in it has it already.
    onOpenAutoFocus: () => {
      before.current = document.activeElement;
    },
    onCloseAutoFocus: (event: Event) => {
      const back = before.current ?? outside;
      before.current = null;
      stayWhereFocusIs(event);
      if (event.defaultPrevented || !(back instanceof HTMLElement || back instanceof SVGElement) || !back.isConnected) return;
      event.preventDefault();
      back.focus();
    },
  };
}
