"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { usePathname, useRouter, useSearchParams } from "next/navigation";
import { useState } from "react";
import { formatCount, plural } from "#components/format.ts";
import { Cost, PRICES_PLACE } from "#components/runs/cost.tsx";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { UsageChart } from "#components/settings/usage-chart.tsx";
import { UsageTable } from "#components/settings/usage-table.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Select } from "#components/ui/select.tsx";
import { TableSkeleton } from "#components/ui/table-skeleton.tsx";
import type { Usage, UsageGroup } from "#server/features/usage/schema.ts";

const DAY_MS = 86_400_000;
const PERIODS = [
  { value: "7", label: "Last 7 days" },
  { value: "30", label: "Last 30 days" },
  { value: "90", label: "Last 90 days" },
  { value: "365", label: "Last 365 days" },
] as const;
type Period = (typeof PERIODS)[number]["value"];
const GROUPS = [
  { value: "agent", label: "By agent" },
  { value: "workflow", label: "By workflow" },
  { value: "model", label: "By model" },
  { value: "source", label: "By origin" },
] as const satisfies readonly { value: UsageGroup; label: string }[];
type Group = (typeof GROUPS)[number]["value"];

/** What agents used and cost; the time and the grouping stand in the address. */
export function UsageSettings() {
  return (
    <SettingsSection
      title="Usage"
      description="Tokens and cost of this project's agents and knowledge, at the price that held at each call. Days are UTC."
    >
      <UsageReport />
    </SettingsSection>
  );
}

const oneOf = <Value extends string>(options: readonly { value: Value }[], text: string | null): Value | undefined =>
  options.find(({ value }) => value === text)?.value;

function UsageReport() {
  const trpc = useTRPC();
  const router = useRouter();
  const path = usePathname();
  const query = useSearchParams();
  const [now] = useState(() => Date.now());
  const period: Period = oneOf(PERIODS, query.get("days")) ?? "30";
  const group: Group = oneOf(GROUPS, query.get("by")) ?? "agent";
  const span = { from: dayOf(now - (Number(period) - 1) * DAY_MS), to: dayOf(now) };
  const days = useQuery(trpc.usage.get.queryOptions({ ...span, group_by: "day" }, { placeholderData: keepPreviousData }));
  const parts = useQuery(trpc.usage.get.queryOptions({ ...span, group_by: group }));
  const go = (name: string, value: string) => {
    const next = new URLSearchParams(query);
    next.set(name, value);
    router.replace(`${path}?${next}`, { scroll: false });
  };
  const failed = [days, parts].find(({ isError }) => isError);
  return (
    <>
      <div className="-mb-2 flex flex-wrap items-center gap-2">
        <div className="w-40">
          <Select aria-label="Time" value={period} options={PERIODS} onValueChange={(value) => go("days", value)} />
        </div>
        <div className="w-40">
          <Select aria-label="Group" value={group} options={GROUPS} onValueChange={(value) => go("by", value)} />
        </div>
      </div>
      {failed?.error && <LoadFailure error={failed.error} onRetry={() => void failed.refetch()} />}
      {days.data && <UsageTotal usage={days.data} />}
      {days.data && <UsageChart days={days.data.items} />}
      {days.data?.total.calls === 0 ? (
        <p className="py-6 text-13 text-ink-soft">No model was called in this time.</p>
      ) : (
        <>
          {parts.isPending && <TableSkeleton label="Loading usage" rows={3} />}
          {parts.data && <UsageTable label={`Usage ${labelOf(group)}`} group={group} items={parts.data.items} />}
          {days.data && (
            <UsageTable label="Usage by day" group="day" items={days.data.items.filter(({ calls }) => calls > 0).toReversed()} />
          )}
        </>
      )}
    </>
  );
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
const labelOf = (group: Group): string => (group === "source" ? "by origin" : `by ${group}`);

function UsageTotal({ usage: { total, prices_as_of } }: { usage: Usage }) {
  const { calls, calls_without_price, input_tokens, output_tokens, cost, cost_is_partial } = total;
  const facts = [
    ["Cost", <Cost key="cost" cost={cost} isPartial={cost_is_partial} />],
    ["Calls", formatCount(calls)],
    ["Input tokens", formatCount(input_tokens)],
    ["Output tokens", formatCount(output_tokens)],
  ] as const;
  return (
    <>
      <dl aria-label="Total" className="flex flex-wrap gap-x-8 gap-y-2">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt className="text-12 text-ink-faint">{name}</dt>
            <dd className="font-semibold text-16 tabular">{value}</dd>
          </div>
        ))}
      </dl>
      {calls_without_price > 0 && (
        <Notice tone="waiting">
          The price of {plural(calls_without_price, "call")} is not known, so the cost is without{" "}
          {calls_without_price === 1 ? "it" : "them"}.{" "}
          <Link href={PRICES_PLACE} className="underline underline-offset-2">
            Set prices at the LLM key
          </Link>
          ; they count for calls from then on.
        </Notice>
      )}
      <p className="-mt-2 text-12 text-ink-faint">
        List prices of {prices_as_of} where the LLM key has none of its own, without batch discounts and taxes.
      </p>
    </>
  );
}
