import { useMemo } from "react";
import { type TextPart, wholeDiff } from "#components/ui/text-diff.ts";

export interface Titles {
  a: string;
  b: string;
}

interface SideTextsProps {
  titles: Titles;
  a: string | null;
  b: string | null;
}

const MARKS = { removed: "bg-failed-soft text-failed", added: "bg-thread-soft text-thread-text" } as const;

/** Two texts side by side, with the words marked that only one has; one text where they are the same. */
export function SideTexts({ titles, a, b }: SideTextsProps) {
  const parts = useMemo(() => wholeDiff(a ?? "", b ?? ""), [a, b]);
  if (a === b)
    return (
      <TextBox label="On both sides">
        <p className="mb-1 text-12 text-ink-faint">The same on both sides</p>
        {a === null || a === "" ? <span className="text-ink-faint italic">Empty</span> : a}
      </TextBox>
    );
  return (
    <div className="grid gap-3 md:grid-cols-2">
      <Side title={titles.a} text={a} parts={parts} own="removed" />
      <Side title={titles.b} text={b} parts={parts} own="added" />
    </div>
  );
}

function Side({ title, text, parts, own }: { title: string; text: string | null; parts: readonly TextPart[]; own: "removed" | "added" }) {
  const Mark = own === "removed" ? "del" : "ins";
  return (
    <TextBox label={title}>
      <p className="mb-1 text-12 text-ink-faint">{title}</p>
      {text === null || text === "" ? (
        <span className="text-ink-faint italic">Nothing</span>
      ) : (
        parts
          .filter(({ kind }) => kind === "same" || kind === own)
          .map((part, index) => {
            const key = index.toString();
            return part.kind === "same" ? (
              <span key={key}>{part.text}</span>
            ) : (
              <Mark key={key} className={`rounded-xs no-underline ${MARKS[own]}`}>
                {part.text}
              </Mark>
            );
          })
      )}
    </TextBox>
  );
}

const TextBox = ({ label, children }: { label: string; children: React.ReactNode }) => (
  <section
    aria-label={label}
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    tabIndex={0}
    className="max-h-96 min-w-0 overflow-y-auto whitespace-pre-wrap break-words rounded-md border bg-raised p-2.5 text-14"
  >
    {children}
  </section>
);
