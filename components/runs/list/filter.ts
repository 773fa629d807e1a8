import type { ExecutionFilter } from "#server/runs/schema.ts";
import { executionStatuses, executionTriggers } from "#server/shared/execution-status.ts";

// The filters of the runs list as they stand in the page's address, and as the API takes them.

type Status = (typeof executionStatuses)[number];

const MINUTE_MS = 60_000;

/** Spans of time up to now, by the word that stands for them in the address. */
export const spans = [
  { value: "30m", label: "Last 30 minutes", ms: 30 * MINUTE_MS },
  { value: "1h", label: "Last hour", ms: 60 * MINUTE_MS },
  { value: "6h", label: "Last 6 hours", ms: 360 * MINUTE_MS },
  { value: "1d", label: "Last 24 hours", ms: 1440 * MINUTE_MS },
  { value: "7d", label: "Last 7 days", ms: 7 * 1440 * MINUTE_MS },
  { value: "30d", label: "Last 30 days", ms: 30 * 1440 * MINUTE_MS },
] as const;

export interface RunFilter {
  q: string;
  statuses: Status[];
  triggers: (typeof executionTriggers)[number][];
  workflow: string | undefined;
  /** One of `spans`, or `custom` with the two days. */
  since: string | undefined;
  from: string | undefined;
  to: string | undefined;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const dayOf = (text: string | null) => (text !== null && DAY.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined);

function listed<Value extends string>(text: string | null, known: readonly Value[]): Value[] {
  const named = text?.split(",") ?? [];
  return known.filter((value) => named.includes(value));
}

/** What of the address counts; anything else is as if it were not there. */
export function filterOf(query: URLSearchParams): RunFilter {
  const [from, to] = [dayOf(query.get("from")), dayOf(query.get("to"))];
  const since = spans.find(({ value }) => value === query.get("since"))?.value;
  return {
    q: query.get("q")?.trim().slice(0, 200) ?? "",
    statuses: listed(query.get("status"), executionStatuses),
    triggers: listed(query.get("trigger"), executionTriggers),
    workflow: query.get("workflow") || undefined,
    since: since ?? (from !== undefined || to !== undefined || query.get("since") === "custom" ? "custom" : undefined),
    from: since ? undefined : from,
    to: since ? undefined : to,
  };
}

/** How each filter is called in the address; undefined for one that is off. */
export function queryOf(filter: Partial<RunFilter>): Record<string, string | undefined> {
  const text = (values: readonly string[]) => (values.length ? values.join(",") : undefined);
  return {
    ...("q" in filter && { q: filter.q || undefined }),
    ...(filter.statuses && { status: text(filter.statuses) }),
    ...(filter.triggers && { trigger: text(filter.triggers) }),
    ...("workflow" in filter && { workflow: filter.workflow }),
    ...("since" in filter && { since: filter.since }),
    ...("from" in filter && { from: filter.from }),
    ...("to" in filter && { to: filter.to }),
  };
}

export const nothingFiltered: RunFilter = {
  q: "",
  statuses: [],
  triggers: [],
  workflow: undefined,
  since: undefined,
  from: undefined,
  to: undefined,
};

export const isFiltered = (filter: RunFilter): boolean =>
  filter.q !== "" ||
  filter.statuses.length + filter.triggers.length > 0 ||
  filter.workflow !== undefined ||
  filter.from !== undefined ||
  filter.to !== undefined ||
  (filter.since !== undefined && filter.since !== "custom");

/** The address's query of a filter, in one order, by which two of them are the same. */
export const textOfFilter = (filter: RunFilter): string =>
  new URLSearchParams(Object.entries(queryOf(filter)).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))).toString();

const midnight = (day: string, later = 0): string => {
  const at = new Date(`${day}T00:00:00`);
  at.setDate(at.getDate() + later);
  return at.toISOString();
};

/**
 * The same for the API; days are the reader's own, the last one counted in.
 * @param now in milliseconds; taken by the minute, so that the same list is asked for again
 */
export function apiFilterOf({ q, statuses, triggers, workflow, since, from, to }: RunFilter, now: number): ExecutionFilter {
  const span = spans.find(({ value }) => value === since);
  return {
    ...(q !== "" && { q }),
    ...(statuses.length > 0 && { status: statuses.join(",") }),
    ...(triggers.length > 0 && { trigger: triggers.join(",") }),
    ...(workflow !== undefined && { workflow_id: workflow }),
    ...(span && { from: new Date(Math.floor(now / MINUTE_MS) * MINUTE_MS - span.ms).toISOString() }),
    ...(from !== undefined && { from: midnight(from) }),
    ...(to !== undefined && { to: midnight(to, 1) }),
  };
}
