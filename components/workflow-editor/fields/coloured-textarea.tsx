"use client";

import type { ChangeEvent, ComponentProps, ReactNode } from "react";
import { cn } from "#components/ui/cn.ts";
import { controlStyle } from "#components/ui/control-style.ts";
import { useFieldControl } from "#components/ui/field.tsx";

/** Both layers set the text alike, so that the colours lie under the letters. */
const TEXT = "whitespace-pre-wrap break-words py-1.5 pr-9 pl-2.5 text-12 [tab-size:4] pointer-coarse:text-16";

export interface ColouredTextareaProps extends Omit<ComponentProps<"textarea">, "ref" | "value" | "onChange" | "children"> {
  value: string;
  onChange: (event: ChangeEvent<HTMLTextAreaElement>) => void;
  /** Lines that it is high at least. */
  rows: number;
  /** The text in coloured pieces, in the same letters. */
  colours: ReactNode;
  isCode?: boolean;
  /** At its top right. */
  action?: ReactNode;
}

/** A text field with colours: the text as it is typed is transparent and lies over the same text in colour. Grows with its text. */
export function ColouredTextarea({ value, rows, colours, isCode = false, action, readOnly, className, ...rest }: ColouredTextareaProps) {
  const field = useFieldControl();
  const text = cn(TEXT, isCode && "font-mono [font-variant-ligatures:none]");
  return (
    <div
      className={cn(
        controlStyle,
        "relative grid max-h-120 resize-y overflow-y-auto focus-within:outline-2",
        field["aria-invalid"]
          ? "border-failed focus-within:outline-failed/35"
          : "focus-within:border-thread focus-within:outline-thread/35",
        readOnly && "bg-sunken",
        className,
      )}
      // A line is 18 px, padding and border are 14.
      style={{ minHeight: rows * 18 + 14 }}
    >
      <div aria-hidden className={cn(text, "pointer-events-none col-start-1 row-start-1 min-w-0")}>
        {colours}
        {/* A last empty line has a height only with something on it. */}
        {"\n"}
      </div>
      <textarea
        {...field}
        {...rest}
        value={value}
        readOnly={readOnly}
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        className={cn(
          text,
          "field-sizing-content col-start-1 row-start-1 w-full min-w-0 resize-none overflow-hidden bg-transparent text-transparent caret-ink outline-none selection:text-ink",
        )}
      />
      {action}
    </div>
  );
}
