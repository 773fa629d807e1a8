import { cn } from "#components/ui/cn.ts";

/** The mark: three warp threads, and the weft that goes over, under and over them. */
export function LogoMark({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 24 24" aria-hidden className={cn("size-6 shrink-0", className)} fill="none" strokeWidth="2.5" strokeLinecap="round">
      <g stroke="var(--ink)">
        <path d="M6 3v6M6 15v6M12 3v18M18 3v6M18 15v6" />
      </g>
      <path d="M2 12h6M16 12h6" stroke="var(--thread)" />
      <path d="M2 12h7.5M14.5 12H22" stroke="var(--thread)" />
    </svg>
  );
}

export function Logo({ className }: { className?: string }) {
  return (
    <span className={cn("inline-flex items-center gap-2 font-semibold text-16 text-ink tracking-[-0.01em]", className)}>
      <LogoMark />
      Treadle
    </span>
  );
}
