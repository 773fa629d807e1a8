"use client";

import { useQuery } from "@tanstack/react-query";
import { Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { formatCost, formatDate, plural } from "#components/format.ts";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useUrlQuery } from "#components/shell/use-url-query.ts";
import { useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { Link } from "#components/ui/link.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { RowMenu } from "#components/ui/row-menu.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { Budget, BudgetInput } from "#server/features/budgets/schema.ts";

const ConfirmDialog = loadedOnUse(() => import("#components/ui/confirm-dialog.tsx").then((module) => module.ConfirmDialog));

const BudgetDialog = loadedOnUse(async () => (await import("#components/settings/budget-dialog.tsx")).BudgetDialog);

/** What is being set: a budget that there is, or a new one, perhaps of something that the address names. */
type Edited = { budget: Budget } | { scope: Budget["scope"]; id: string | null };

const SCOPES = { project: "Project", agent: "Agent", llm_key: "LLM key" } as const satisfies Record<Budget["scope"], string>;
const ACTIONS = { pause: "Then runs wait for an admin", stop: "Then runs stop" } as const satisfies Record<Budget["action"], string>;

const isSame = (a: Pick<Budget, "scope" | "id">, b: Pick<Budget, "scope" | "id">) => a.scope === b.scope && a.id === b.id;

/** What the project, its agents and its LLM keys may cost in a month. */
export function BudgetSettings() {
  const { trpc, client, cache } = useApi();
  const { canAdminister, project } = useStudio();
  const { query, setQuery } = useUrlQuery();
  const budgets = useQuery(trpc.budgets.list.queryOptions({}, { enabled: canAdminister }));
  const [chosen, setChosen] = useState<Edited | null>(null);
  const [removed, setRemoved] = useState<Budget | null>(null);
  const items = budgets.data?.items ?? [];
  // The page of an agent or a key leads here.
  const named = (["agent", "llm_key"] as const).flatMap((scope) => {
    const id = query.get(scope);
    return id ? [{ scope, id }] : [];
  })[0];
  const meant = named && items.find((budget) => isSame(budget, named));
  const edited = chosen ?? (budgets.data && named ? (meant ? { budget: meant } : named) : null);
  const close = () => {
    setChosen(null);
    if (named) setQuery({ agent: undefined, llm_key: undefined });
  };
  /** All are written together: so they are read first, as others may have set some since this page did. */
  const save = async (budget: Pick<Budget, "scope" | "id">, next: BudgetInput[]) => {
    const now = await client.budgets.list.query({});
    const saved = await client.budgets.set.mutate({ items: [...now.items.filter((other) => !isSame(other, budget)), ...next] });
    cache.setQueryData(trpc.budgets.list.queryKey({}), saved);
    await cache.invalidateQueries(trpc.budgets.spent.pathFilter());
  };
  const add = (
    <Button variant="primary" icon={<Plus />} onClick={() => setChosen({ scope: items.length ? "agent" : "project", id: null })}>
      Add budget
    </Button>
  );
  if (!canAdminister)
    return (
      <SettingsSection title="Budgets" description={`Only admins of ${project.name} see and set budgets; you are ${project.role}.`}>
        {null}
      </SettingsSection>
    );
  return (
    <SettingsSection
      title="Budgets"
      description="What models may cost in a calendar month (UTC). Each call is checked before it is made; admins are told at 80 % and at the limit."
      action={items.length > 0 && add}
    >
      {budgets.isError && <LoadFailure query={budgets} />}
      {budgets.isPending && <Skeleton className="h-20" />}
      {budgets.data && items.length === 0 && (
        <EmptyState size="panel" title="Nothing is limited" actions={add}>
          With a budget, runs wait for you at the limit, or stop there: of the whole project, of an agent, or of all calls with one LLM key.
        </EmptyState>
      )}
      {items.length > 0 && (
        <>
          <Unpriced />
          <ul className="flex flex-col gap-3">
            {items.map((budget) => (
              <BudgetCard
                key={`${budget.scope} ${budget.id}`}
                budget={budget}
                onEdit={() => setChosen({ budget })}
                onRemove={() => setRemoved(budget)}
              />
            ))}
          </ul>
        </>
      )}
      {edited && (
        <BudgetDialog
          {...("budget" in edited ? { budget: edited.budget } : { initial: edited })}
          taken={items}
          onSave={async (next) => {
            await save(next, [next]);
            toast.success("The budget is saved");
            close();
          }}
          onClose={close}
        />
      )}
      {removed && (
        <ConfirmDialog
          onClose={() => setRemoved(null)}
          title={`Remove the budget of “${removed.name}”?`}
          confirmLabel="Remove budget"
          onConfirm={async () => {
            await save(removed, []);
            toast.success("The budget is removed");
          }}
        >
          Nothing stops its calls any more, and runs that wait for it go on.
        </ConfirmDialog>
      )}
    </SettingsSection>
  );
}

/** That some calls of this month count as nothing. */
function Unpriced() {
  const { trpc } = useApi();
  const [now] = useState(() => new Date().toISOString());
  const usage = useQuery(trpc.usage.get.queryOptions({ from: `${now.slice(0, 7)}-01`, to: now.slice(0, 10), group_by: "source" }));
  const count = usage.data?.total.calls_without_price ?? 0;
  if (count === 0) return null;
  return (
    <Notice tone="waiting">
      The price of {plural(count, "call")} of this month is not known: {count === 1 ? "it counts" : "they count"} as $0 here.{" "}
      <Link href="#prices" className="underline underline-offset-2">
        Set prices
      </Link>
    </Notice>
  );
}

/** What will have been spent when the month ends, if it goes on as it did; null in its first two days, which say little. */
function forecastOf({ spent, resets_at }: Budget, now: number): number | null {
  const end = new Date(resets_at);
  const start = Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - 1, 1);
  const passed = now - start;
  return passed < 2 * 86_400_000 ? null : (spent * (end.getTime() - start)) / passed;
}

function BudgetCard({ budget, onEdit, onRemove }: { budget: Budget; onEdit: () => void; onRemove: () => void }) {
  const { scope, id, name, spent, monthly_limit, action, resets_at } = budget;
  const [now] = useState(() => Date.now());
  const part = spent / monthly_limit;
  const forecast = forecastOf(budget, now);
  const href = scope === "agent" ? `/agents/${id}` : scope === "llm_key" ? "/keys" : "/settings/usage";
  return (
    <li className="flex flex-col gap-2 rounded-lg border bg-raised p-4">
      <div className="flex items-center gap-3">
        <div className="min-w-0 flex-1">
          <span className="block text-12 text-ink-faint">{SCOPES[scope]}</span>
          <Link href={href} className="block truncate font-semibold text-14 underline-offset-2 hover:underline">
            {name}
          </Link>
        </div>
        <RowMenu of={`${SCOPES[scope]} ${name}`}>
          <MenuItem icon={<Pencil />} onSelect={onEdit}>
            Change
          </MenuItem>
          <MenuItem icon={<Trash2 />} tone="danger" onSelect={onRemove}>
            Remove
          </MenuItem>
        </RowMenu>
      </div>
      <div aria-hidden className="h-2 overflow-hidden rounded-full bg-sunken">
        <div
          className={cn("h-full rounded-full", part >= 1 ? "bg-failed" : part >= 0.8 ? "bg-waiting" : "bg-complete")}
          style={{ width: `${Math.min(100, part * 100)}%` }}
        />
      </div>
      <p className="flex flex-wrap gap-x-4 gap-y-1 text-14 text-ink-soft">
        <span className="tabular">
          <span className="font-semibold text-ink">{formatCost(spent)}</span> of {formatCost(monthly_limit)} ({Math.round(part * 100)} %)
        </span>
        {forecast !== null && part < 1 && (
          <span className={cn("tabular", forecast > monthly_limit && "text-waiting")}>
            At this pace {formatCost(Math.round(forecast * 100) / 100)} by {formatDate(resets_at)}
          </span>
        )}
        {part >= 1 && <span>Begins anew on {formatDate(resets_at)}</span>}
        <span>{ACTIONS[action]}</span>
      </p>
    </li>
  );
}
