"use client";

import { createContext, type ReactNode, useContext, useId } from "react";
import { cn } from "#components/ui/cn.ts";

interface FieldLink {
  id: string;
  labelId: string;
  describedBy: string | undefined;
  isInvalid: boolean;
  isRequired: boolean;
}

const FieldContext = createContext<FieldLink | null>(null);

/** Attributes that tie a control to the Field around it; empty outside of one. Own attributes of the control win. */
export function useFieldControl(): {
  id?: string;
  "aria-labelledby"?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
  "aria-required"?: true;
} {
  const field = useContext(FieldContext);
  if (!field) return {};
  return {
    id: field.id,
    "aria-labelledby": field.labelId,
    ...(field.describedBy && { "aria-describedby": field.describedBy }),
    ...(field.isInvalid && { "aria-invalid": true as const }),
    ...(field.isRequired && { "aria-required": true as const }),
  };
}

export interface FieldProps {
  label: ReactNode;
  /** What the value is for; stays visible with an error. */
  hint?: ReactNode;
  error?: string | undefined;
  /** Something that may be a mistake; the value is accepted. */
  warning?: string | undefined;
  isRequired?: boolean;
  isOptional?: boolean;
  /** Beside the label, at the right: a link or a small button. */
  action?: ReactNode;
  isLabelHidden?: boolean;
  className?: string;
  /** One control from components/ui, which finds its id and description by itself. */
  children: ReactNode;
}

/** Label, control, hint and error as one thing, tied together for assistive technology. */
export function Field({
  label,
  hint,
  error,
  warning,
  isRequired = false,
  isOptional = false,
  action,
  isLabelHidden = false,
  className,
  children,
}: FieldProps) {
  const id = useId();
  const ids = { control: `${id}control`, label: `${id}label`, hint: `${id}hint`, error: `${id}error`, warning: `${id}warning` };
  const describedBy = [error && ids.error, warning && ids.warning, hint && ids.hint].filter(Boolean).join(" ") || undefined;
  return (
    <FieldContext value={{ id: ids.control, labelId: ids.label, describedBy, isInvalid: error !== undefined, isRequired }}>
      <div className={cn("flex min-w-0 flex-col gap-1.5", className)}>
        <div className={cn("flex min-h-5 items-center justify-between gap-3", isLabelHidden && "sr-only")}>
          <label id={ids.label} htmlFor={ids.control} className="font-semibold text-12 text-ink">
            {label}
            {isOptional && <span className="ml-1.5 font-normal text-ink-faint">optional</span>}
          </label>
          {action}
        </div>
        {children}
        {error !== undefined && (
          <p id={ids.error} className="text-12 text-failed" role="alert">
            {error}
          </p>
        )}
        {warning !== undefined && (
          <p id={ids.warning} className="text-12 text-waiting">
            {warning}
          </p>
        )}
        {hint && (
          <p id={ids.hint} className="text-12 text-ink-faint">
            {hint}
          </p>
        )}
      </div>
    </FieldContext>
  );
}

/** What is wrong with a group of controls, below them. */
export const FieldError = ({ children }: { children: string | null | undefined }) =>
  children && (
    <p role="alert" className="text-12 text-failed">
      {children}
    </p>
  );
