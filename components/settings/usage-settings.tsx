"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { formatCost, formatCount, plural } from "#components/format.ts";
import { Cost, PRICES_PLACE } from "#components/runs/cost.tsx";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useUrlQuery } from "#components/shell/use-url-query.ts";
import { useTRPC } from "#components/trpc.tsx";
import { Link } from "#components/ui/link.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Select } from "#components/ui/select.tsx";
import { TableSkeleton } from "#components/ui/skeleton.tsx";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "#components/ui/table.tsx";
import type { Usage, UsageGroup, UsageItem } from "#server/features/usage/schema.ts";
import { providerKind } from "#server/llm/kinds.ts";

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
      description="Tokens and cost of this project's agents, knowledge and assistant, at the price that held at each call. Days are UTC."
    >
      <UsageReport />
    </SettingsSection>
  );
}

const oneOf = <Value extends string>(options: readonly { value: Value }[], text: string | null): Value | undefined =>
  options.find(({ value }) => value === text)?.value;

function UsageReport() {
  const trpc = useTRPC();
  const { query, setQuery } = useUrlQuery();
  const [now] = useState(() => Date.now());
  const period: Period = oneOf(PERIODS, query.get("days")) ?? "30";
  const group: Group = oneOf(GROUPS, query.get("by")) ?? "agent";
  const span = { from: dayOf(now - (Number(period) - 1) * DAY_MS), to: dayOf(now) };
  const days = useQuery(trpc.usage.get.queryOptions({ ...span, group_by: "day" }, { placeholderData: keepPreviousData }));
  const parts = useQuery(trpc.usage.get.queryOptions({ ...span, group_by: group }));
  const failed = [days, parts].find(({ isError }) => isError);
  return (
    <>
      <div className="-mb-2 flex flex-wrap items-center gap-2">
        <div className="w-40">
          <Select aria-label="Time" value={period} options={PERIODS} onValueChange={(value) => setQuery({ days: value })} />
        </div>
        <div className="w-40">
          <Select aria-label="Group" value={group} options={GROUPS} onValueChange={(value) => setQuery({ by: value })} />
        </div>
      </div>
      {failed && <LoadFailure query={failed} />}
      {days.data && <UsageTotal usage={days.data} />}
      {days.data && <UsageChart days={days.data.items} />}
      {days.data?.total.calls === 0 ? (
        <p className="py-6 text-14 text-ink-soft">No model was called in this time.</p>
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
    ["Cost", <Cost key="cost" cost={cost} isPartial={cost_is_partial} isShort={calls_without_price > 0} />],
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
            Set prices
          </Link>
          ; they count for calls from then on.
        </Notice>
      )}
      <p className="-mt-2 text-12 text-ink-faint">
        List prices of {prices_as_of} where the project has none of its own, without batch discounts and taxes.
      </p>
    </>
  );
}

/** Height of the tallest bar, in pixels. */
const HEIGHT = 96;

/** A day of which no price is known still shows, this high. */
const STUB = 4;

/** What each day cost, as bars; paler where some price is not known. The table of days below says the same in words. */
export function UsageChart({ days }: { days: readonly UsageItem[] }) {
  const tokensOf = (day: UsageItem) => day.input_tokens + day.output_tokens;
  // Where nothing has a price the tokens are all there is to compare.
  const isPriced = days.some(({ cost }) => (cost ?? 0) > 0);
  const amountOf = (day: UsageItem) => (isPriced ? (day.cost ?? 0) : tokensOf(day));
  const most = Math.max(...days.map(amountOf));
  if (!(most > 0)) return null;
  const step = 100 / days.length;
  return (
    <figure className="flex flex-col gap-1">
      <figcaption className="flex justify-between text-12 text-ink-faint">
        <span>{isPriced ? "Cost per day" : "Tokens per day"}</span>
        <span className="tabular">{isPriced ? formatCost(most) : formatCount(most)}</span>
      </figcaption>
      <svg
        role="img"
        aria-label={isPriced ? "Cost per day" : "Tokens per day"}
        viewBox={`0 0 100 ${HEIGHT}`}
        preserveAspectRatio="none"
        className="h-24 w-full border-b"
      >
        {days.map((day, index) => {
          const height = amountOf(day) > 0 ? Math.max(1, (amountOf(day) / most) * HEIGHT) : day.cost === null ? STUB : 0;
          return (
            <g key={day.key}>
              <title>{`${day.key}: ${wordsOf(day)}`}</title>
              <rect x={index * step} y={0} width={step} height={HEIGHT} fill="transparent" />
              <rect
                x={index * step + step * 0.12}
                y={HEIGHT - height}
                width={step * 0.76}
                height={height}
                className={day.cost_is_partial ? "fill-thread/60" : "fill-thread"}
              />
            </g>
          );
        })}
      </svg>
      <div aria-hidden className="flex justify-between text-12 text-ink-faint tabular">
        <span>{days[0]?.key}</span>
        <span>{days.at(-1)?.key}</span>
      </div>
    </figure>
  );
}

function wordsOf(day: UsageItem): string {
  if (day.calls === 0) return "no calls";
  const cost = day.cost === null ? "price unknown" : `${formatCost(day.cost)}${day.cost_is_partial ? " and more" : ""}`;
  return `${cost}, ${plural(day.calls, "call")}`;
}

/** The first column by group. */
const HEADINGS: Record<UsageGroup, string> = { day: "Day", agent: "Agent", workflow: "Workflow", model: "Model", source: "From" };
const SOURCES: Record<string, string> = { run: "Runs", chat: "Tests and chats", knowledge: "Vectors of knowledge", assistant: "Assistant" };

export interface UsageTableProps {
  label: string;
  group: UsageGroup;
  items: readonly UsageItem[];
}

/** Tokens and cost, a row for each item. */
export function UsageTable({ label, group, items }: UsageTableProps) {
  return (
    <Table label={label} className="sm:min-w-130">
      <TableHead>
        <TableHeader className="w-full">{HEADINGS[group]}</TableHeader>
        <TableHeader className="text-right">Calls</TableHeader>
        <TableHeader className="text-right max-sm:hidden">Input</TableHeader>
        <TableHeader className="text-right max-sm:hidden">Output</TableHeader>
        <TableHeader className="text-right">Cost</TableHeader>
      </TableHead>
      <TableBody>
        {items.map((item) => (
          <TableRow key={`${item.provider} ${item.key}`}>
            <TableCell className="max-w-0 truncate font-semibold">
              <ItemName group={group} item={item} />
            </TableCell>
            <TableCell className="whitespace-nowrap text-right text-ink-soft tabular">{formatCount(item.calls)}</TableCell>
            <TableCell className="whitespace-nowrap text-right text-ink-soft tabular max-sm:hidden">
              {formatCount(item.input_tokens)}
            </TableCell>
            <TableCell className="whitespace-nowrap text-right text-ink-soft tabular max-sm:hidden">
              {formatCount(item.output_tokens)}
            </TableCell>
            <TableCell className="text-right">
              <Cost cost={item.cost} isPartial={item.cost_is_partial} isShort />
            </TableCell>
          </TableRow>
        ))}
      </TableBody>
    </Table>
  );
}

function ItemName({ group, item: { key, name, provider } }: { group: UsageGroup; item: UsageItem }) {
  if (key === null) return group === "agent" ? "Vectors of knowledge, and the assistant" : "Tests, chats, knowledge and the assistant";
  if (group === "source") return SOURCES[key] ?? key;
  if (group === "model")
    return (
      <>
        <span className="font-mono text-12">{key}</span>
        {provider && <span className="ml-2 font-normal text-12 text-ink-faint">{providerKind(provider).label}</span>}
      </>
    );
  if (group === "day") return <span className="tabular">{key}</span>;
  if (name === null) return <span className="text-ink-faint">Deleted {group}</span>;
  return (
    <Link href={group === "agent" ? `/agents/${key}` : `/workflows/${key}`} className="underline-offset-2 hover:underline">
      {name}
    </Link>
  );
}
