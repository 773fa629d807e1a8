"use client";

import { AlertDialog as Radix } from "radix-ui";
import { type ReactNode, useState } from "react";
import { errorBodyOf } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { useFocusReturn } from "#components/ui/dialog.tsx";
import { Notice } from "#components/ui/notice.tsx";

export interface ConfirmDialogProps {
  onClose: () => void;
  /** The question, e.g. "Delete “Daily digest”?" */
  title: string;
  /** What will be lost or happen, in one or two sentences. */
  children: ReactNode;
  /** The verb, never "OK". */
  confirmLabel: string;
  /** In place of "Cancel" where it would be unclear what is cancelled. */
  cancelLabel?: string;
  tone?: "danger" | "normal";
  /** False keeps the button off, e.g. until a name has been typed. */
  isReady?: boolean;
  /** Closes the dialog when it resolves; when it rejects, the error's message is shown and the dialog stays. */
  onConfirm: () => Promise<unknown>;
}

/** Asks before something that cannot be taken back, open as long as it is rendered. Focus starts on Cancel. */
export function ConfirmDialog({
  onClose,
  title,
  children,
  confirmLabel,
  cancelLabel = "Cancel",
  tone = "danger",
  isReady = true,
  onConfirm,
}: ConfirmDialogProps) {
  const focusReturn = useFocusReturn();
  const [isPending, setIsPending] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const confirm = async () => {
    setIsPending(true);
    setError(null);
    try {
      await onConfirm();
      onClose();
    } catch (failure) {
      setError(errorBodyOf(failure).detail);
    } finally {
      setIsPending(false);
    }
  };
  return (
    <Radix.Root open onOpenChange={(open) => !open && !isPending && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-50 grid animate-appear place-items-center overflow-y-auto bg-scrim p-4 max-sm:place-items-end max-sm:p-0">
          <Radix.Content
            {...focusReturn}
            className="flex w-full max-w-100 animate-rise flex-col gap-4 rounded-lg border border-line-strong bg-raised p-5 shadow-lg max-sm:max-w-none max-sm:rounded-b-none max-sm:pb-8"
          >
            <div className="flex flex-col gap-1.5">
              <Radix.Title className="break-words font-semibold text-18 text-ink">{title}</Radix.Title>
              <Radix.Description asChild>
                <div className="text-14 text-ink-soft">{children}</div>
              </Radix.Description>
            </div>
            {error !== null && <Notice tone="failed">{error}</Notice>}
            <div className="flex justify-end gap-2">
              <Radix.Cancel asChild>
                <Button disabled={isPending}>{cancelLabel}</Button>
              </Radix.Cancel>
              <Button
                variant={tone === "danger" ? "danger" : "primary"}
                isPending={isPending}
                disabled={!isReady}
                onClick={() => void confirm()}
              >
                {confirmLabel}
              </Button>
            </div>
          </Radix.Content>
        </Radix.Overlay>
      </Radix.Portal>
    </Radix.Root>
  );
}
