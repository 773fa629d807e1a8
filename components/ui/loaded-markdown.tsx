"use client";

import { useMemo } from "react";
import { useHydrated } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import type { MarkdownProps } from "#components/ui/markdown.tsx";
import { isQuickMarkdown } from "#components/ui/markdown-bounds.ts";
import { visibleText } from "#server/shared/visible-text.ts";

/** Text with its line breaks, in the type of Markdown so that little moves when it is replaced. */
function PlainText({ className, showsHidden = false, children }: MarkdownProps) {
  return (
    <div className={cn("prose whitespace-pre-wrap", className)}>
      <p>{showsHidden ? visibleText(children) : children}</p>
    </div>
  );
}

const ParsedMarkdown = loadedOnUse(() => import("#components/ui/markdown.tsx").then((module) => module.Markdown), PlainText);

/**
 * Markdown of users, models and runs. Only a browser parses it: the parser may take seconds, which would stop the server for
 * everyone. Plain text is shown until then, and in place of what would take the browser too long.
 */
export function Markdown(props: MarkdownProps) {
  const isInBrowser = useHydrated();
  const isQuick = useMemo(() => isInBrowser && isQuickMarkdown(props.children), [isInBrowser, props.children]);
  if (isQuick) return <ParsedMarkdown {...props} />;

  return (
    <>
      <PlainText {...props} />
      {isInBrowser && (
        <p className="mt-2 text-12 text-ink-soft">Shown as plain text: it is too long, or has too many lists, quotes or marks to format.</p>
      )}
    </>
  );
}
