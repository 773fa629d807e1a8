import type { ReactNode } from "react";
import { plural } from "#components/format.ts";
import { cn } from "#components/ui/cn.ts";
import { splitAtChange } from "#components/ui/split-at-change.ts";
import { type DiffPiece, diffTexts } from "#components/ui/text-diff.ts";

/** One side of a change: what it is called, and the value there as people read it. */
export interface ChangedSide {
  title: string;
  text: string;
}

const BEFORE = "bg-failed-soft text-failed";
const AFTER = "bg-thread-soft text-thread-text";

/** A text of several lines, or a long one, is read as one text with what was taken out and put in. */
const isLong = (text: string) => text.includes("\n") || text.length > 200;

/** One field that is another on two sides, inside of a `dl`: short values side by side, longer texts as one with its changes. */
export function ChangedField({ title, before, after }: { title: string; before: ChangedSide; after: ChangedSide }) {
  return (
    <div className="flex flex-col gap-1 text-12">
      <dt className="font-semibold text-ink-soft">{title}</dt>
      {isLong(before.text) || isLong(after.text) ? (
        <TextChange before={before} after={after} />
      ) : (
        <ValueChange before={before} after={after} />
      )}
    </div>
  );
}

function ValueChange({ before, after }: { before: ChangedSide; after: ChangedSide }) {
  const parts = splitAtChange(before.text, after.text);
  return (
    <>
      <Value side={before.title} tone={BEFORE}>
        {parts.head}
        <Removed>{parts.before}</Removed>
        {parts.tail}
      </Value>
      <Value side={after.title} tone={AFTER}>
        {parts.head}
        <Added>{parts.after}</Added>
        {parts.tail}
      </Value>
    </>
  );
}

function TextChange({ before, after }: { before: ChangedSide; after: ChangedSide }) {
  return (
    <dd className="flex flex-col gap-1">
      <span className="flex gap-1.5">
        <Side tone={BEFORE}>{before.title}</Side>
        <Side tone={AFTER}>{after.title}</Side>
      </span>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is no box for text */}
      <div
        role="group"
        aria-label="Changed text"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        tabIndex={0}
        className="max-h-80 overflow-y-auto whitespace-pre-wrap break-words rounded-md bg-sunken px-2.5 py-2 text-ink focus-visible:outline-offset-[-2px]"
      >
        {diffTexts(before.text, after.text).map((piece, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list is made anew with each text
          <Piece key={index} piece={piece} />
        ))}
      </div>
    </dd>
  );
}

function Piece({ piece }: { piece: DiffPiece }) {
  if (piece.kind === "cut")
    return <span className="my-1 block border-y py-0.5 text-12 text-ink-faint">{plural(piece.lines, "line")} without a change</span>;
  if (piece.kind === "removed") return <Removed>{piece.text}</Removed>;
  return piece.kind === "added" ? <Added>{piece.text}</Added> : piece.text;
}

const Removed = ({ children }: { children: string }) => (
  <del className="rounded-xs bg-failed-soft text-failed decoration-failed/60">{children}</del>
);
const Added = ({ children }: { children: string }) => (
  <ins className="rounded-xs bg-thread-soft text-thread-text no-underline">{children}</ins>
);

const Side = ({ tone, children }: { tone: string; children: string }) => (
  <span className={cn("shrink-0 rounded-sm px-1 text-12", tone)}>{children}</span>
);

function Value({ side, tone, children }: { side: string; tone: string; children: ReactNode }) {
  return (
    <dd className="flex items-baseline gap-1.5">
      <Side tone={tone}>{side}</Side>
      <span className="max-h-40 min-w-0 flex-1 overflow-y-auto whitespace-pre-wrap break-words text-ink">{children}</span>
    </dd>
  );
}
