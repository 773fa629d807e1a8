"use client";

import { useQuery } from "@tanstack/react-query";
import { Plus, Trash2 } from "lucide-react";
import { type FormEvent, useRef, useState } from "react";
import { formatCost } from "#components/format.ts";
import { UnsavedGuard } from "#components/forms/unsaved-guard.tsx";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useApi, useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Input, SearchField } from "#components/ui/input.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "#components/ui/table.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { type Price, type PriceList, PricesInput } from "#server/features/budgets/schema.ts";
import { type ProviderId, providerIds, providerKind } from "#server/llm/kinds.ts";
import { filterByText } from "#server/shared/fold-text.ts";

const Select = loadedOnUse(() => import("#components/ui/select.tsx").then((module) => module.Select));

interface Row {
  key: number;
  /** A provider, or an LLM key's id. */
  place: string;
  model: string;
  input: string;
  /** May stay empty. */
  cached: string;
  output: string;
}

/** A row as it was typed; without a place it is for what the project calls, which may not have been read yet. */
type Written = Omit<Row, "place"> & { place: string | null };

const EMPTY = { model: "", input: "", cached: "", output: "" };
/** The prices of a row, in the order in which they stand. */
const KINDS = [
  { field: "input", heading: "Input", name: "Input price" },
  { field: "cached", heading: "Cached input", name: "Cached input price" },
  { field: "output", heading: "Output", name: "Output price" },
] as const;
const COLUMNS =
  "grid gap-2 max-sm:grid-cols-[repeat(3,minmax(0,1fr))_auto] sm:grid-cols-[minmax(0,4fr)_minmax(0,5fr)_repeat(3,minmax(0,2fr))_auto]";
const NUMBERS = { min: 0, step: "any", inputMode: "decimal", type: "number" } as const;

/** What models cost: the project's own prices, and the list that holds where it has none. */
export function PriceSettings() {
  const trpc = useTRPC();
  const { canAdminister, project } = useStudio();
  // Not read again by itself: what somebody is typing would give way to what others have set.
  const prices = useQuery(trpc.budgets.prices.queryOptions({}, { refetchOnWindowFocus: false, refetchOnReconnect: false }));
  const readOnly = canAdminister ? "" : ` Only admins of ${project.name} set them; you are ${project.role}.`;
  return (
    <div id="prices" className="scroll-mt-6">
      <SettingsSection
        title="Prices"
        description={`US dollars for a million tokens. Yours come before the built-in list, and count for calls from now on.${readOnly}`}
      >
        {prices.isError && <LoadFailure query={prices} />}
        {prices.isPending && <Skeleton className="h-20" />}
        {prices.data && (
          <>
            <OwnPrices key={JSON.stringify(prices.data.items)} saved={prices.data.items} isReadOnly={!canAdminister} />
            <BuiltInPrices list={prices.data.built_in} />
          </>
        )}
      </SettingsSection>
    </div>
  );
}

/** Where a price may hold: for a provider, or for one of its keys alone. */
function usePlaces() {
  const trpc = useTRPC();
  const { data, isPending } = useQuery(trpc.llmKeys.list.queryOptions({ page: 1, per_page: 200 }));
  const keys = data?.items ?? [];
  const providerOf = (place: string): ProviderId | undefined =>
    providerIds.find((id) => id === place) ?? keys.find(({ id }) => id === place)?.provider;
  const options = [
    ...providerIds.map((id) => ({ value: id, label: providerKind(id).label })),
    ...keys.map(({ id, name }) => ({ value: id, label: `Key “${name}” only` })),
  ];
  // One begins with what the project calls.
  return { options, providerOf, first: keys[0]?.provider ?? "openai", isPending };
}

function OwnPrices({ saved, isReadOnly }: { saved: readonly Price[]; isReadOnly: boolean }) {
  const { trpc, client, cache } = useApi();
  const { options, providerOf, first, isPending: isReading } = usePlaces();
  const [written, setRows] = useState<Written[]>(() => rowsOf(saved));
  const rows = written.map((row): Row => ({ ...row, place: row.place ?? first }));
  const [failure, setFailure] = useState<string | null>(null);
  const [isPending, setIsPending] = useState(false);
  const nextKey = useRef(rows.length);
  /** The row that was added last: there one goes on typing. */
  const [added, setAdded] = useState<number | null>(null);
  const isDirty = JSON.stringify(rows.map(({ key: _, ...row }) => row)) !== JSON.stringify(rowsOf(saved).map(({ key: _, ...row }) => row));
  const edit = (key: number, part: Partial<Row>) => setRows(written.map((row) => (row.key === key ? { ...row, ...part } : row)));
  const add = () => {
    nextKey.current += 1;
    setAdded(nextKey.current);
    setRows([...written, { key: nextKey.current, place: written.at(-1)?.place ?? null, ...EMPTY }]);
  };
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const prices = pricesOf(rows, providerOf);
    if (typeof prices === "string") return setFailure(prices);
    setFailure(null);
    setIsPending(true);
    try {
      // All are written together: what others have set since this page was opened would be gone.
      const now = await client.budgets.prices.query({});
      if (JSON.stringify(now.items) !== JSON.stringify(saved))
        return setFailure("Someone changed the prices after you opened this page. Reload it and make your changes again.");
      const list = await client.budgets.setPrices.mutate(prices);
      cache.setQueryData(trpc.budgets.prices.queryKey({}), list);
      await cache.invalidateQueries(trpc.llmKeys.list.pathFilter());
      toast.success("Prices saved");
    } catch (error) {
      setFailure(errorBodyOf(error).detail);
    } finally {
      setIsPending(false);
    }
  };
  if (isReadOnly) return rows.length ? <PriceTable label="Own prices" rows={saved.map((price) => ({ ...price, host: null }))} /> : null;
  return (
    <form onSubmit={(event) => void save(event)} noValidate className="flex flex-col gap-3">
      <UnsavedGuard isDirty={isDirty} />
      {rows.length > 0 && (
        <div aria-hidden className={cn(COLUMNS, "-mb-1 text-12 text-ink-soft max-sm:hidden")}>
          <span>For</span>
          <span>Model</span>
          {KINDS.map(({ field, heading }) => (
            <span key={field}>{heading}</span>
          ))}
          <span className="w-7" />
        </div>
      )}
      {rows.map(({ key, place, model, ...amounts }, index) => (
        <fieldset key={key} className={cn(COLUMNS, "items-end sm:items-center max-sm:border-b max-sm:pb-3")}>
          <legend className="sr-only">Price {index + 1}</legend>
          {/* Its cell is there before it is loaded: the others keep their columns. */}
          <div className="min-h-8 min-w-0 max-sm:col-span-4">
            <Select
              aria-label={`Price ${index + 1} is for`}
              value={place}
              options={options.some(({ value }) => value === place) ? options : [...options, { value: place, label: "An LLM key" }]}
              onValueChange={(next) => edit(key, { place: next })}
            />
          </div>
          <Input
            aria-label={`Model ${index + 1}`}
            autoFocus={key === added}
            value={model}
            placeholder="model-id or model-*"
            spellCheck={false}
            autoComplete="off"
            className="font-mono max-sm:col-span-4"
            onChange={(event) => edit(key, { model: event.target.value })}
          />
          {KINDS.map(({ field, heading, name }) => (
            <div key={field} className="flex min-w-0 flex-col gap-1">
              <span aria-hidden className="text-12 text-ink-soft sm:hidden">
                {heading}
              </span>
              <Input
                {...NUMBERS}
                aria-label={`${name} of ${model || `model ${index + 1}`}`}
                value={amounts[field]}
                placeholder={field === "cached" ? "as input" : "0.00"}
                onChange={(event) => edit(key, { [field]: event.target.value })}
              />
            </div>
          ))}
          <IconButton
            label={`Remove the price of ${model || `model ${index + 1}`}`}
            icon={<Trash2 />}
            onClick={() => setRows(written.filter((row) => row.key !== key))}
          />
        </fieldset>
      ))}
      <div className="flex flex-wrap items-center gap-3">
        <Button size="sm" icon={<Plus />} onClick={add}>
          Add price
        </Button>
        {isDirty && (
          <Button size="sm" type="submit" variant="primary" isPending={isPending || isReading}>
            Save prices
          </Button>
        )}
      </div>
      {rows.length > 0 && (
        <p className="text-12 text-ink-faint">
          A model id also stands for its dated versions. With * at its end it stands for all that begin so. Cached input is what the
          provider says that it read from its cache; left empty, it costs as other input. Free is 0.
        </p>
      )}
      {failure !== null && <Notice tone="failed">{failure}</Notice>}
    </form>
  );
}

const rowsOf = (prices: readonly Price[]): Row[] =>
  prices.map(({ provider, llm_key_id, model, input_per_million, cached_input_per_million, output_per_million }, key) => ({
    key,
    place: llm_key_id ?? provider,
    model,
    input: String(input_per_million),
    cached: cached_input_per_million === undefined ? "" : String(cached_input_per_million),
    output: String(output_per_million),
  }));

/** The prices that were typed, or what is missing. Rows in which nothing stands are left out. */
function pricesOf(rows: readonly Row[], providerOf: (place: string) => ProviderId | undefined): PricesInput | string {
  const typed = rows.filter(({ model, input, cached, output }) => model.trim() || input || cached || output);
  const missing = typed.find(({ model, input, output }) => !model.trim() || input === "" || output === "");
  if (missing) return "Each price needs a model, and what input and output cost. Free is 0.";
  const parsed = PricesInput.safeParse({
    items: typed.map(({ place, model, input, cached, output }) => ({
      provider: providerOf(place),
      llm_key_id: providerIds.some((id) => id === place) ? null : place,
      model,
      input_per_million: Number(input),
      ...(cached !== "" && { cached_input_per_million: Number(cached) }),
      output_per_million: Number(output),
    })),
  });
  return parsed.success ? parsed.data : "A price is a number from 0 to 100,000.";
}

type ListedPrice = Pick<
  PriceList["built_in"]["items"][number],
  "provider" | "host" | "model" | "input_per_million" | "cached_input_per_million" | "output_per_million"
>;

/** The built-in list, folded: it is long, and seldom asked for. */
function BuiltInPrices({ list: { as_of, items } }: { list: PriceList["built_in"] }) {
  const [search, setSearch] = useState("");
  const shown = filterByText(items, search, ({ provider, model }) => `${providerKind(provider).label} ${model}`);
  return (
    <details className="rounded-lg border">
      <summary className="cursor-pointer px-4 py-3 font-semibold text-14 hover:bg-hover">
        Built-in list of {as_of}: {items.length} models
      </summary>
      <div className="flex flex-col gap-3 border-t p-4">
        <SearchField label="Search models" value={search} onValueChange={setSearch} className="max-w-80" />
        <PriceTable label="Built-in prices" rows={shown} />
        {shown.length === 0 && <p className="text-14 text-ink-soft">No model of the list is called so. Add a price of your own above.</p>}
      </div>
    </details>
  );
}

function PriceTable({ label, rows }: { label: string; rows: readonly ListedPrice[] }) {
  if (rows.length === 0) return null;
  return (
    <Table label={label}>
      <TableHead>
        <TableHeader className="w-full">Model</TableHeader>
        <TableHeader className="max-sm:hidden">Provider</TableHeader>
        <TableHeader className="text-right">Input</TableHeader>
        <TableHeader className="text-right max-sm:hidden">Cached</TableHeader>
        <TableHeader className="text-right">Output</TableHeader>
      </TableHead>
      <TableBody>
        {rows.map(({ provider, host, model, input_per_million, cached_input_per_million, output_per_million }) => (
          <TableRow key={`${provider} ${host} ${model}`}>
            <TableCell className="max-w-0 truncate font-mono text-12">{model}</TableCell>
            <TableCell className="whitespace-nowrap text-ink-soft max-sm:hidden">{host ?? providerKind(provider).label}</TableCell>
            <TableCell className="text-right tabular">{formatCost(input_per_million)}</TableCell>
            <TableCell className="text-right text-ink-soft tabular max-sm:hidden">
              {cached_input_per_million === undefined ? "" : formatCost(cached_input_per_million)}
            </TableCell>
            <TableCell className="text-right tabular">{formatCost(output_per_million)}</TableCell>
          </TableRow>
        ))}
      </TableBody>
    </Table>
  );
}
