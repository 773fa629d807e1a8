import {
  Bot,
  CalendarClock,
  GitFork,
  Globe,
  type LucideIcon,
  MousePointerClick,
  RotateCw,
  SlidersHorizontal,
  SquareTerminal,
  TriangleAlert,
  Webhook,
  Workflow,
  Zap,
} from "lucide-react";

const KINDS: Record<string, { label: string; icon: LucideIcon }> = {
  manual: { label: "Manual", icon: MousePointerClick },
  params: { label: "Form", icon: SlidersHorizontal },
  webhook: { label: "Webhook", icon: Webhook },
  schedule: { label: "Schedule", icon: CalendarClock },
  http: { label: "HTTP", icon: Globe },
  api: { label: "API", icon: SquareTerminal },
  assistant: { label: "Assistant", icon: Bot },
  rerun: { label: "Rerun", icon: RotateCw },
  fork: { label: "Fork", icon: GitFork },
  workflow: { label: "Workflow", icon: Workflow },
  error: { label: "After a failure", icon: TriangleAlert },
};

/** What starts a run, in a word. */
export const triggerName = (kind: string): string => KINDS[kind]?.label ?? kind;

/** What starts a workflow, by the kind of its trigger node. */
export function TriggerLabel({ kind }: { kind: string }) {
  const { label, icon: Icon } = KINDS[kind] ?? { label: kind, icon: Zap };
  return (
    <span className="flex items-center gap-1.5 whitespace-nowrap text-ink-soft">
      <Icon aria-hidden className="size-3.5 text-ink-faint" />
      {label}
    </span>
  );
}
