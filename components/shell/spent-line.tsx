"use client";

import { useQuery } from "@tanstack/react-query";
import { formatCost } from "#components/format.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { cn } from "#components/ui/cn.ts";
import { Link } from "#components/ui/link.tsx";

interface SpentLineProps {
  scope: "agent" | "llm_key";
  id: string;
  /** All of the page, which are asked for together; left out, this one. */
  ids?: readonly string[];
  className?: string;
}

/** What an agent or an LLM key has cost this month, of its budget if it has one, with the way to set that. Nothing of what has cost nothing and has none. */
export function SpentLine({ scope, id, ids = [id], className }: SpentLineProps) {
  const trpc = useTRPC();
  const { canAdminister } = useStudio();
  const { data } = useQuery(trpc.budgets.spent.queryOptions({ scope, ids: [...ids] }));
  const own = data?.items.find((item) => item.id === id);
  if (!own || (own.spent === 0 && own.monthly_limit === null)) return null;
  const { spent, monthly_limit } = own;
  const isFull = monthly_limit !== null && spent >= monthly_limit;
  return (
    <p className={cn("flex flex-wrap gap-x-2 text-12 text-ink-faint tabular", className)}>
      <span className={cn(isFull && "text-failed")}>
        Spent {formatCost(spent)}
        {monthly_limit !== null && ` of ${formatCost(monthly_limit)}`} this month
      </span>
      {canAdminister && (
        <Link href={`/settings/budgets?${scope}=${id}`} className="underline underline-offset-2">
          {monthly_limit === null ? "Set a budget" : "Change"}
        </Link>
      )}
    </p>
  );
}
