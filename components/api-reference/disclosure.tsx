"use client";

import { ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";

export interface DisclosureProps {
  id: string;
  /** The line that is always there. */
  summary: ReactNode;
  /** Open at first, and again whenever it becomes true. */
  isOpen?: boolean;
  /** Drawn when it is opened for the first time: a page of a hundred of these stays light. */
  children: () => ReactNode;
}

/** A card that opens by its first line. */
export function Disclosure({ id, summary, isOpen = false, children }: DisclosureProps) {
  const [wasOpened, setWasOpened] = useState(isOpen);
  return (
    <details
      id={id}
      open={isOpen}
      onToggle={(event) => event.currentTarget.open && setWasOpened(true)}
      className="group min-w-0 scroll-mt-18 rounded-lg border bg-surface open:pb-4"
    >
      <summary className="flex min-h-11 cursor-pointer list-none flex-wrap items-center gap-x-3 gap-y-1 rounded-lg px-3 py-2 hover:bg-hover [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden
          className="size-3.5 shrink-0 text-ink-faint transition-transform group-open:rotate-90 motion-reduce:transition-none"
        />
        {summary}
      </summary>
      {(wasOpened || isOpen) && <div className="flex min-w-0 flex-col gap-5 px-4 pt-3">{children()}</div>}
    </details>
  );
}
