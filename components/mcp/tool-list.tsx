"use client";

import { ChevronRight } from "lucide-react";
import { CodeBlock } from "#components/ui/code-block.tsx";
import { Switch } from "#components/ui/switch.tsx";
import type { McpTool } from "#server/features/mcp/schema.ts";

export interface ToolListProps {
  tools: readonly McpTool[];
  /** Names of those that are switched off. */
  disabled: readonly string[];
  /** Left out, nothing can be switched. */
  onDisabledChange?: ((disabled: string[]) => void) | undefined;
}

/** The arguments in short, as they stand beside the tool's name: `a, b, limit?`. */
function argumentsOf({ input_schema }: McpTool): string {
  const { properties, required } = input_schema;
  const needed = Array.isArray(required) ? required : [];
  return Object.keys(Object(properties))
    .map((name) => (needed.includes(name) ? name : `${name}?`))
    .join(", ");
}

/** Tools of a server: what each does, its arguments, and whether agents get it. */
export function ToolList({ tools, disabled, onDisabledChange }: ToolListProps) {
  return (
    <ul className="flex flex-col divide-y rounded-lg border bg-surface">
      {tools.map((tool) => {
        const isOn = !disabled.includes(tool.name);
        return (
          <li key={tool.name} className="flex items-start gap-3 px-3 py-2.5">
            <div className="flex min-w-0 flex-1 flex-col gap-1">
              <p className={`break-words font-mono text-12 ${isOn ? "text-ink" : "text-ink-faint line-through"}`}>
                {tool.name}
                <span className="text-ink-faint">({argumentsOf(tool)})</span>
              </p>
              {tool.description && <p className="line-clamp-4 whitespace-pre-line break-words text-14 text-ink-soft">{tool.description}</p>}
              <details className="group text-12">
                <summary className="flex min-h-6 w-fit cursor-pointer list-none items-center gap-1 text-ink-faint hover:text-ink">
                  <ChevronRight aria-hidden className="size-3 transition-transform group-open:rotate-90" />
                  Input schema<span className="sr-only"> of {tool.name}</span>
                </summary>
                <CodeBlock code={JSON.stringify(tool.input_schema, null, 2)} label={`input schema of ${tool.name}`} className="mt-1" />
              </details>
            </div>
            {onDisabledChange && (
              <Switch
                label={`Agents get ${tool.name}`}
                checked={isOn}
                onCheckedChange={(on) => onDisabledChange(on ? disabled.filter((name) => name !== tool.name) : [...disabled, tool.name])}
                className="mt-1"
              />
            )}
          </li>
        );
      })}
    </ul>
  );
}
