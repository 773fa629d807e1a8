import { LoaderCircle } from "lucide-react";
import { cn } from "#components/ui/cn.ts";

/** A turning ring. With a label it is announced; without one it decorates a text that says the same. */
export function Spinner({ label, className }: { label?: string; className?: string }) {
  return (
    <span role={label ? "status" : undefined} className={cn("inline-flex size-3.5 shrink-0", className)}>
      <LoaderCircle aria-hidden className="size-full animate-spin" />
      {label && <span className="sr-only">{label}</span>}
    </span>
  );
}
