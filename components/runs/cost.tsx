import { formatCost } from "#components/format.ts";
import { cn } from "#components/ui/cn.ts";
import { Link } from "#components/ui/link.tsx";

/** Where prices are set. */
export const PRICES_PLACE = "/settings/budgets#prices";

export interface CostProps {
  /** US dollars; null when nothing of it is known. */
  cost: number | null;
  /** Some part's price is not known. */
  isPartial?: boolean;
  /** Leads to where the price can be set; false inside of buttons and links. */
  isLinked?: boolean;
  /** In a row of a table that says above what is not known: there a dash is enough. */
  isShort?: boolean;
  className?: string;
}

/** A cost, or that its price is not known. */
export function Cost({ cost, isPartial = false, isLinked = true, isShort = false, className }: CostProps) {
  if (cost !== null && !isPartial) return <span className={cn("whitespace-nowrap tabular", className)}>{formatCost(cost)}</span>;
  const text = cost === null ? "price unknown" : `${formatCost(cost)} and more`;
  const what = cost === null ? "The price of the model is not known" : "The price of some calls is not known";
  // A price alone says nothing of a call whose tokens nobody counted.
  const why = `${what}, or the service did not tell the tokens.`;
  const style = cn("whitespace-nowrap tabular", className);
  if (isShort)
    return (
      <span className={cn(style, cost === null && "text-ink-faint")} title={why}>
        <span aria-hidden>{cost === null ? "–" : `${formatCost(cost)} +`}</span>
        <span className="sr-only">{text}</span>
      </span>
    );
  if (!isLinked)
    return (
      <span className={style} title={why}>
        {text}
      </span>
    );
  return (
    <Link
      href={PRICES_PLACE}
      title={`${why} Prices are set in Settings, Budgets.`}
      className={cn(style, "inline-flex min-h-6 items-center underline underline-offset-2")}
    >
      {text}
    </Link>
  );
}
