import Link from "next/link";
import { formatCount } from "#components/format.ts";
import { Cost } from "#components/runs/cost.tsx";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "#components/ui/table.tsx";
import type { UsageGroup, UsageItem } from "#server/features/usage/schema.ts";
import { providerKind } from "#server/llm/kinds.ts";

/** The first column by group. */
const HEADINGS: Record<UsageGroup, string> = { day: "Day", agent: "Agent", workflow: "Workflow", model: "Model", source: "From" };
const SOURCES: Record<string, string> = { run: "Runs", chat: "Tests and chats", knowledge: "Vectors of knowledge" };

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
        <tr>
          <TableHeader className="w-full">{HEADINGS[group]}</TableHeader>
          <TableHeader className="text-right">Calls</TableHeader>
          <TableHeader className="text-right max-sm:hidden">Input</TableHeader>
          <TableHeader className="text-right max-sm:hidden">Output</TableHeader>
          <TableHeader className="text-right">Cost</TableHeader>
        </tr>
      </TableHead>
      <TableBody>
        {items.map((item) => (
          <TableRow key={`${item.provider} ${item.key}`}>
            <TableCell className="max-w-0 truncate font-medium">
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
              <Cost cost={item.cost} isPartial={item.cost_is_partial} />
            </TableCell>
          </TableRow>
        ))}
      </TableBody>
    </Table>
  );
}

function ItemName({ group, item: { key, name, provider } }: { group: UsageGroup; item: UsageItem }) {
  if (key === null) return group === "agent" ? SOURCES.knowledge : "Tests, chats and knowledge";
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
