"use client";

import { ChevronRight } from "lucide-react";
import { useMemo, useState } from "react";
import { formatBytes, plural } from "#components/format.ts";
import { errorBodyOf } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy.tsx";
import { Markdown } from "#components/ui/loaded-markdown.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { visibleName, visibleText } from "#server/shared/visible-text.ts";

/** More than this is shown in part at first: the browser would stall on it. */
const MAX_CHARACTERS = 20_000;
const MAX_ENTRIES = 100;

export interface ValueViewProps {
  value: string;
  /** What it is, for the copy button, e.g. "output". */
  what: string;
  /** "markdown" is shown as formatted text; JSON is recognised by itself. */
  format?: string;
  /** Shows hidden characters as escapes, for values under review. */
  showsHidden?: boolean;
  /** Still growing: nothing is parsed, and there is nothing to copy yet. */
  isArriving?: boolean;
  /** Of a value that is only a beginning: how long the whole is, and how to get it. */
  whole?: { length: number; load: () => Promise<string> } | null;
}

/** A value of a run: JSON as a tree, Markdown as text, anything else as it is. */
export function ValueView({ value: given, what, format, showsHidden = false, isArriving = false, whole = null }: ValueViewProps) {
  const [loaded, setLoaded] = useState<string | null>(null);
  const [isLoading, setIsLoading] = useState(false);
  const value = loaded ?? given;
  const isPart = whole !== null && loaded === null;
  const json = useMemo(() => (isArriving || isPart ? undefined : parseContainer(value)), [value, isArriving, isPart]);
  const [isWhole, setIsWhole] = useState(false);
  if (value === "") return <p className="text-12 text-ink-faint italic">Empty</p>;
  const showAll = async () => {
    setIsWhole(true);
    if (!isPart) return;
    setIsLoading(true);
    try {
      setLoaded(await whole.load());
    } catch (error) {
      toast.error(errorBodyOf(error).detail);
    } finally {
      setIsLoading(false);
    }
  };
  const isCut = value.length > MAX_CHARACTERS && !isWhole && json === undefined;
  const shown = isCut ? value.slice(0, MAX_CHARACTERS) : value;
  return (
    <div className="group/value relative min-w-0">
      {!isArriving && (
        <CopyButton
          value={value}
          what={what}
          load={isPart ? whole.load : undefined}
          className="absolute -top-1 right-0 bg-surface pointer-coarse:top-0"
        />
      )}
      {json !== undefined ? (
        <div className="overflow-x-auto pr-8 font-mono text-12">
          <JsonNode name={null} value={json} depth={0} />
        </div>
      ) : format === "markdown" && !isArriving ? (
        <Markdown showsHidden={showsHidden} className="pr-8 text-14">
          {shown}
        </Markdown>
      ) : (
        <p className="whitespace-pre-wrap break-words pr-8 text-14 text-ink">{`${showsHidden ? visibleText(shown) : shown}${isPart ? "…" : ""}`}</p>
      )}
      {(isCut || isPart) && (
        <Button size="sm" className="mt-2" isPending={isLoading} onClick={() => void showAll()}>
          Show all {formatBytes(isPart ? whole.length : value.length)}
        </Button>
      )}
    </div>
  );
}

/** Objects and lists are worth a tree; a lone number or word is not. */
function parseContainer(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" ? value : undefined;
  } catch {
    return undefined;
  }
}

function JsonNode({ name, value, depth }: { name: string | null; value: unknown; depth: number }) {
  const label = name === null ? null : <span className="text-role-interface">{visibleName(name)}: </span>;
  if (value === null || typeof value !== "object")
    return (
      <div className="whitespace-pre-wrap break-words py-px pl-4">
        {label}
        <Leaf value={value} />
      </div>
    );
  const entries = Object.entries(value);
  const isList = Array.isArray(value);
  if (entries.length === 0)
    return (
      <div className="py-px pl-4">
        {label}
        {isList ? "[]" : "{}"}
      </div>
    );
  return (
    <details open={depth < 2 && entries.length <= MAX_ENTRIES} className="group/json">
      <summary className="flex min-h-6 cursor-pointer list-none items-center py-px hover:bg-hover [&::-webkit-details-marker]:hidden">
        <ChevronRight aria-hidden className="size-3 shrink-0 text-ink-faint transition-transform [[open]>summary>&]:rotate-90" />
        <span className="pl-1">
          {label}
          <span className="text-ink-faint">{isList ? `[${plural(entries.length, "item")}]` : `{${plural(entries.length, "field")}}`}</span>
        </span>
      </summary>
      <div className="ml-1.5 border-l pl-2">
        {entries.slice(0, MAX_ENTRIES).map(([key, item]) => (
          <JsonNode key={key} name={key} value={item} depth={depth + 1} />
        ))}
        {entries.length > MAX_ENTRIES && <p className="pl-4 text-ink-faint">… and {entries.length - MAX_ENTRIES} more. Copy to see all.</p>}
      </div>
    </details>
  );
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === "string") return <span className="text-role-output">{visibleName(JSON.stringify(value))}</span>;
  if (typeof value === "number") return <span className="text-role-logic">{value}</span>;
  return <span className="text-role-human">{String(value)}</span>;
}
