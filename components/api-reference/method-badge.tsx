import { cn } from "#components/ui/cn.ts";

const METHODS: Record<string, string> = {
  GET: "bg-role-interface-soft text-role-interface",
  POST: "bg-complete-soft text-complete",
  PUT: "bg-waiting-soft text-waiting",
  PATCH: "bg-waiting-soft text-waiting",
  DELETE: "bg-failed-soft text-failed",
};

export function MethodBadge({ method }: { method: string }) {
  return (
    <span className={cn("w-14 shrink-0 rounded-sm py-0.5 text-center font-semibold font-mono text-12", METHODS[method] ?? "bg-sunken")}>
      {method}
    </span>
  );
}
