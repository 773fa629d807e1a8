"use client";

import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Input } from "#components/ui/input.tsx";
import { toast } from "#components/ui/toaster.tsx";

/** Puts a text on the clipboard. False when the browser does not let it, which is said. */
export async function copyText(what: string, text: () => string | Promise<string>): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(await text());
    return true;
  } catch {
    toast.error(`The browser did not allow copying. Select the ${what} and copy it by hand.`);
    return false;
  }
}

export interface CopyButtonProps {
  value: string;
  /** Brings what is copied when `value` is only a part of it. */
  load?: (() => Promise<string>) | undefined;
  /** What is copied, e.g. "API key"; the name becomes "Copy API key". */
  what: string;
  /** Shows the word beside the icon. */
  isWide?: boolean;
  className?: string;
}

export function CopyButton({ value, load, what, isWide = false, className = "" }: CopyButtonProps) {
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setIsCopied(false), 1600);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    if (await copyText(what, () => (load ? load() : value))) setIsCopied(true);
  };
  const icon = isCopied ? <Check className="text-complete" /> : <Copy />;
  return (
    <>
      {isWide ? (
        <Button icon={icon} className={className} aria-label={`Copy ${what}`} onClick={() => void copy()}>
          {isCopied ? "Copied" : "Copy"}
        </Button>
      ) : (
        <IconButton label={`Copy ${what}`} icon={icon} className={className} onClick={() => void copy()} />
      )}
      <span role="status" className="sr-only">
        {isCopied ? `${what} copied` : ""}
      </span>
    </>
  );
}

interface CopyFieldProps {
  label: string;
  hint?: string;
  value: string;
  /** What is copied, e.g. "API key"; the button is called "Copy API key". */
  what: string;
  /** A small button, for a narrow panel. */
  isCompact?: boolean;
}

/** A value to take elsewhere: selected when it gets the focus, and copied by a button. */
export function CopyField({ label, hint, value, what, isCompact = false }: CopyFieldProps) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      <div className={isCompact ? "flex gap-1" : "flex gap-2"}>
        <Input value={value} readOnly className="font-mono text-12" onFocus={(event) => event.target.select()} />
        {isCompact ? <CopyButton value={value} what={what} className="size-8" /> : <CopyButton value={value} what={what} isWide />}
      </div>
    </Field>
  );
}
