import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

export interface PanelDisclosureProps {
  title: string;
  /** Said of it at the end of the line. */
  aside?: string;
  isOpen?: boolean;
  children: ReactNode;
}

/** A part of the panel that opens by its first line. */
export function PanelDisclosure({ title, aside, isOpen = false, children }: PanelDisclosureProps) {
  return (
    <details open={isOpen} className="group rounded-md border">
      <summary className="flex h-8 cursor-pointer list-none items-center gap-1.5 px-2.5 font-semibold text-12 text-ink-soft hover:text-ink pointer-coarse:h-11 [&::-webkit-details-marker]:hidden">
        <ChevronRight aria-hidden className="size-3.5 transition-transform group-open:rotate-90" />
        {title}
        {aside !== undefined && <span className="ml-auto font-normal text-12 text-ink-faint">{aside}</span>}
      </summary>
      {children}
    </details>
  );
}
