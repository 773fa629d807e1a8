"use client";

import { useState } from "react";
import { Textarea } from "#components/ui/textarea.tsx";

const linesOf = (headers: Record<string, string>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");

/** Reads `Name: value` lines; a line without a colon is a name without a value. */
function headersOf(lines: string): Record<string, string> {
  return Object.fromEntries(
    lines.split("\n").flatMap((line) => {
      const at = line.indexOf(":");
      const name = (at < 0 ? line : line.slice(0, at)).trim();
      return name ? [[name, at < 0 ? "" : line.slice(at + 1).trim()]] : [];
    }),
  );
}

/** HTTP headers, one a line. What is typed stays as it is while it is being typed. */
export function HeadersField({
  value,
  onValueChange,
}: {
  value: Record<string, string>;
  onValueChange: (value: Record<string, string>) => void;
}) {
  const [text, setText] = useState(() => linesOf(value));
  return (
    <Textarea
      rows={3}
      value={text}
      spellCheck={false}
      placeholder="Authorization: Bearer …"
      className="font-mono"
      onChange={(event) => {
        setText(event.target.value);
        onValueChange(headersOf(event.target.value));
      }}
    />
  );
}
