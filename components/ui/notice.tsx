import { CircleAlert, CircleCheck, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { cn } from "#components/ui/cn.ts";

const TONES = {
  info: { icon: Info, style: "border-line-strong bg-sunken text-ink", mark: "text-ink-soft" },
  complete: { icon: CircleCheck, style: "border-complete/35 bg-complete-soft text-ink", mark: "text-complete" },
  waiting: { icon: TriangleAlert, style: "border-waiting/40 bg-waiting-soft text-ink", mark: "text-waiting" },
  failed: { icon: CircleAlert, style: "border-failed/35 bg-failed-soft text-ink", mark: "text-failed" },
} as const;

export interface NoticeProps {
  tone?: keyof typeof TONES;
  title?: ReactNode;
  /** Buttons or links under the text. */
  actions?: ReactNode;
  className?: string;
  children?: ReactNode;
}

/** A remark in the flow of a page. `failed` is announced at once. */
export function Notice({ tone = "info", title, actions, className, children }: NoticeProps) {
  const { icon: Icon, style, mark } = TONES[tone];
  return (
    <div role={tone === "failed" ? "alert" : "status"} className={cn("flex gap-2.5 rounded-md border px-3 py-2 text-14", style, className)}>
      <Icon aria-hidden className={cn("mt-0.75 size-3.5 shrink-0", mark)} />
      <div className="min-w-0 flex-1 whitespace-pre-line break-words">
        {title && <p className="font-semibold">{title}</p>}
        {children}
        {actions && <div className="mt-2 flex flex-wrap gap-2">{actions}</div>}
      </div>
    </div>
  );
}
