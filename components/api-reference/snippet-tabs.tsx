"use client";

import { useState } from "react";
import type { BuiltRequest } from "#components/api-reference/request.ts";
import { curlSnippet, fetchSnippet, pythonSnippet } from "#components/api-reference/snippets.ts";
import { CodeBlock } from "#components/ui/code-block.tsx";
import { Tabs } from "#components/ui/tabs.tsx";

const LANGUAGES = [
  { value: "curl", label: "curl", write: curlSnippet },
  { value: "fetch", label: "fetch", write: fetchSnippet },
  { value: "python", label: "Python", write: pythonSnippet },
] as const;

/** The same call in three languages, to copy. */
export function SnippetTabs({ request, base, needsKey }: { request: BuiltRequest; base: string; needsKey: boolean }) {
  const [language, setLanguage] = useState<(typeof LANGUAGES)[number]["value"]>("curl");
  return (
    <Tabs
      label="Language"
      value={language}
      onValueChange={setLanguage}
      className="min-w-0"
      panelClassName="pt-2"
      tabs={LANGUAGES.map(({ value, label, write }) => ({
        value,
        label,
        content: <CodeBlock label={`${label} code`} code={write(request, { base, needsKey })} />,
      }))}
    />
  );
}
