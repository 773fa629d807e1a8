// A schedule as the builder shows it, to and from the five fields of cron. What it does not know stays as it was typed.

export type CronPlan =
  | { kind: "minutes"; every: number }
  | { kind: "hourly"; minute: number }
  | { kind: "daily"; time: string }
  | { kind: "weekly"; days: readonly number[]; time: string }
  | { kind: "monthly"; day: number; time: string }
  | { kind: "custom"; expression: string };

export type CronKind = CronPlan["kind"];

/** Closest that two fires may be, and the last day that every month has (specification, Limits). */
export const MIN_MINUTES = 5;
export const LAST_DAY = 28;

const START = "09:00";

/** A new plan of a kind; what is there already goes on as the custom expression. */
export function newPlan(kind: CronKind, expression: string): CronPlan {
  const before = planOf(expression);
  const time = "time" in before ? before.time : START;
  switch (kind) {
    case "minutes":
      return { kind, every: 15 };
    case "hourly":
      return { kind, minute: 0 };
    case "daily":
      return { kind, time };
    case "weekly":
      return { kind, days: [1, 2, 3, 4, 5], time };
    case "monthly":
      return { kind, day: 1, time };
    default:
      return { kind: "custom", expression };
  }
}

const two = (number: number) => String(number).padStart(2, "0");

function within(text: string, min: number, max: number): number | undefined {
  const number = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return number >= min && number <= max ? number : undefined;
}

/** Days of the week, 0 is Sunday, from `1-5` or `1,3,7`; undefined for anything else. */
function daysOf(field: string): number[] | undefined {
  const days = new Set<number>();
  for (const part of field.split(",")) {
    const [from = "", to = from, ...rest] = part.split("-");
    const [first, last] = [within(from, 0, 7), within(to, 0, 7)];
    if (first === undefined || last === undefined || last < first || rest.length) return undefined;
    for (let day = first; day <= last; day++) days.add(day % 7);
  }
  return [...days].sort((a, b) => a - b);
}

/** The plan behind an expression. */
export function planOf(expression: string): CronPlan {
  const custom: CronPlan = { kind: "custom", expression };
  const fields = expression.trim().split(/\s+/);
  const [minuteField = "", hourField = "", dayField = "", monthField = "", weekField = ""] = fields;
  if (fields.length !== 5 || monthField !== "*") return custom;
  const isEveryDay = dayField === "*" && weekField === "*";
  if (hourField === "*" && isEveryDay) {
    const every = within(/^\*\/(\d+)$/.exec(minuteField)?.[1] ?? "", MIN_MINUTES, 59);
    if (every !== undefined) return { kind: "minutes", every };
    const minute = within(minuteField, 0, 59);
    return minute === undefined ? custom : { kind: "hourly", minute };
  }
  const [minute, hour] = [within(minuteField, 0, 59), within(hourField, 0, 23)];
  if (minute === undefined || hour === undefined) return custom;
  const time = `${two(hour)}:${two(minute)}`;
  if (isEveryDay) return { kind: "daily", time };
  if (dayField === "*") {
    const days = daysOf(weekField);
    return days ? { kind: "weekly", days, time } : custom;
  }
  const day = weekField === "*" ? within(dayField, 1, LAST_DAY) : undefined;
  return day === undefined ? custom : { kind: "monthly", day, time };
}

/** The expression of a plan; of a time that is not filled in, midnight. */
export function cronOf(plan: CronPlan): string {
  const [hour = 0, minute = 0] = "time" in plan ? plan.time.split(":").map((part) => Number(part) || 0) : [];
  switch (plan.kind) {
    case "minutes":
      return `*/${plan.every} * * * *`;
    case "hourly":
      return `${plan.minute} * * * *`;
    case "daily":
      return `${minute} ${hour} * * *`;
    case "weekly":
      return `${minute} ${hour} * * ${weekField(plan.days)}`;
    case "monthly":
      return `${minute} ${hour} ${plan.day} * *`;
    default:
      return plan.expression;
  }
}

/** `1-5` for neighbours, `1,3` otherwise. */
function weekField(days: readonly number[]): string {
  const sorted = [...days].sort((a, b) => a - b);
  const [first = 0, last = first] = [sorted[0], sorted.at(-1)];
  return sorted.length > 2 && last - first === sorted.length - 1 ? `${first}-${last}` : sorted.join(",");
}
