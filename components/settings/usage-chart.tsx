import { formatCost, formatCount, plural } from "#components/format.ts";
import type { UsageItem } from "#server/features/usage/schema.ts";

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
      <figcaption className="flex justify-between text-11 text-ink-faint">
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
      <div aria-hidden className="flex justify-between text-11 text-ink-faint tabular">
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
