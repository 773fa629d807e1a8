import { cn } from "#components/ui/cn.ts";

/** A grey bar where something will be. Give it the size of what it stands for. */
export const Skeleton = ({ className }: { className?: string }) => (
  <span aria-hidden className={cn("block h-3.5 animate-breathe rounded-sm bg-press", className)} />
);
