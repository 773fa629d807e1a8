"use client";

import { FileUp } from "lucide-react";
import { type DragEvent, type ReactNode, useRef, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";

export interface FileDropProps {
  /** Accessible name of the area. */
  label: string;
  /** What to drop there, or what is going on. */
  words: string;
  /** File types, as `<input accept>` takes them. */
  accept: string;
  isMultiple?: boolean;
  /** Accessible name of the file input. */
  inputLabel: string;
  /** The button that opens the browser's choice of files. */
  button: { label: string; icon?: ReactNode; variant?: "primary" };
  isPending: boolean;
  /** Takes the focus when it is drawn, as the first thing to do in a dialog. */
  hasFocus?: boolean;
  /** Told what was dropped or chosen; never with none. */
  onFiles: (files: File[]) => void;
  /** Further buttons. */
  children?: ReactNode;
}

/** A place to drop files on, with a button for those who rather choose. */
export function FileDrop({
  label,
  words,
  accept,
  isMultiple = false,
  inputLabel,
  button,
  isPending,
  hasFocus = false,
  onFiles,
  children,
}: FileDropProps) {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setIsOver] = useState(false);
  const take = (files: Iterable<File> | null | undefined) => {
    const all = [...(files ?? [])];
    if (all.length > 0) onFiles(isMultiple ? all : all.slice(0, 1));
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    take(event.dataTransfer.files);
  };
  return (
    <section
      aria-label={label}
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={onDrop}
      className={cn(
        "flex flex-wrap items-center gap-x-4 gap-y-3 rounded-lg border border-line-strong border-dashed p-4 transition-colors",
        isOver && "border-thread bg-thread-soft",
      )}
    >
      <FileUp aria-hidden className="size-5 shrink-0 text-ink-faint max-sm:hidden" />
      <p className="min-w-40 flex-1 text-14 text-ink-soft">{words}</p>
      <input
        ref={input}
        type="file"
        multiple={isMultiple}
        accept={accept}
        aria-label={inputLabel}
        className="sr-only"
        tabIndex={-1}
        onChange={(event) => {
          const files = [...(event.target.files ?? [])];
          event.target.value = "";
          take(files);
        }}
      />
      <div className="flex flex-wrap gap-2">
        <Button
          {...(button.variant && { variant: button.variant })}
          {...(button.icon !== undefined && { icon: button.icon })}
          isPending={isPending}
          autoFocus={hasFocus}
          onClick={() => input.current?.click()}
        >
          {button.label}
        </Button>
        {children}
      </div>
    </section>
  );
}
