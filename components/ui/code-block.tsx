"use client";

import { cn } from "#components/ui/cn.ts";
import { CopyButton } from "#components/ui/copy.tsx";

export interface CodeBlockProps {
  code: string;
  /** What it is, for the copy button and assistive technology, e.g. "command". */
  label: string;
  /** Shown in the header, e.g. "curl". */
  title?: string;
  wraps?: boolean;
  className?: string;
}

export function CodeBlock({ code, label, title, wraps = false, className }: CodeBlockProps) {
  return (
    <figure className={cn("group relative min-w-0 overflow-hidden rounded-lg border bg-sunken", className)}>
      {title !== undefined && <figcaption className="border-b px-3 py-1.5 text-12 text-ink-soft">{title}</figcaption>}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is no box for code */}
      <pre
        role="group"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label={label}
        className={cn(
          "overflow-x-auto p-3 pr-11 font-mono text-12 text-ink focus-visible:outline-offset-[-2px]",
          wraps && "whitespace-pre-wrap break-all",
        )}
      >
        {/* In a text, code has a ground and a padding of its own. */}
        <code className="bg-transparent p-0 text-12">{code}</code>
      </pre>
      <CopyButton
        value={code}
        what={label}
        className={cn("absolute right-1.5 bg-sunken", title === undefined ? "top-1.5" : "top-0.75 size-6")}
      />
    </figure>
  );
}
