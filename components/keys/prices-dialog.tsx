"use client";

import { Plus, Trash2 } from "lucide-react";
import { type FormEvent, useRef, useState } from "react";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Input } from "#components/ui/input.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { type LlmKey, type ModelPrice, ModelPrices } from "#server/features/llm-keys/schema.ts";
import { priceList } from "#server/llm/prices.ts";

interface Row {
  id: number;
  model: string;
  input: string;
  /** May stay empty. */
  cached: string;
  output: string;
}

const EMPTY = { model: "", input: "", cached: "", output: "" };
/** The prices of a row, in the order in which they stand. */
const KINDS = [
  { field: "input", heading: "Input", name: "Input price" },
  { field: "cached", heading: "Cached input", name: "Cached input price" },
  { field: "output", heading: "Output", name: "Output price" },
] as const;
const COLUMNS = "grid gap-2 max-sm:grid-cols-[repeat(3,minmax(0,1fr))_auto] sm:grid-cols-[minmax(0,5fr)_repeat(3,minmax(0,2fr))_auto]";

const NUMBERS = { min: 0, step: "any", inputMode: "decimal", type: "number" } as const;

/** What models cost with one key. */
export function PricesDialog({ llmKey, onClose }: { llmKey: LlmKey; onClose: () => void }) {
  const { trpc, client, cache } = useApi();
  const [rows, setRows] = useState<Row[]>(() => rowsOf(llmKey));
  const [failure, setFailure] = useState<string | null>(null);
  const [isPending, setIsPending] = useState(false);
  const nextId = useRef(rows.length);
  /** The row that was added last: there one goes on typing. */
  const [added, setAdded] = useState<number | null>(null);
  const edit = (id: number, part: Partial<Row>) => setRows(rows.map((row) => (row.id === id ? { ...row, ...part } : row)));
  const add = () => {
    nextId.current += 1;
    setAdded(nextId.current);
    setRows([...rows, { id: nextId.current, ...EMPTY }]);
  };
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const prices = pricesOf(rows);
    if (typeof prices === "string") return setFailure(prices);
    setIsPending(true);
    try {
      await client.llmKeys.update.mutate({ key_id: llmKey.id, prices });
      await cache.invalidateQueries(trpc.llmKeys.list.pathFilter());
      toast.success(`Prices of “${llmKey.name}” saved`);
      onClose();
    } catch (error) {
      setFailure(errorBodyOf(error).detail);
      setIsPending(false);
    }
  };
  return (
    <Dialog
      onClose={onClose}
      size="lg"
      title={`Prices of “${llmKey.name}”`}
      description={`US dollars for a million tokens. They count before the built-in list of ${priceList.as_of}, for calls from now on.`}
    >
      <form onSubmit={(event) => void save(event)} noValidate className="flex flex-col gap-3">
        {rows.length > 0 && (
          <div aria-hidden className={cn(COLUMNS, "-mb-1 text-12 text-ink-soft max-sm:hidden")}>
            <span>Model</span>
            {KINDS.map(({ field, heading }) => (
              <span key={field}>{heading}</span>
            ))}
            <span className="w-7" />
          </div>
        )}
        {rows.map(({ id, model, ...amounts }, index) => (
          <fieldset key={id} className={cn(COLUMNS, "items-end sm:items-center max-sm:border-b max-sm:pb-3")}>
            <legend className="sr-only">Price {index + 1}</legend>
            <Input
              aria-label={`Model ${index + 1}`}
              autoFocus={id === added}
              value={model}
              placeholder="model-id or model-*"
              spellCheck={false}
              autoComplete="off"
              className="font-mono max-sm:col-span-4"
              onChange={(event) => edit(id, { model: event.target.value })}
            />
            {KINDS.map(({ field, heading, name }) => (
              <div key={field} className="flex min-w-0 flex-col gap-1">
                <span aria-hidden className="text-11 text-ink-soft sm:hidden">
                  {heading}
                </span>
                <Input
                  {...NUMBERS}
                  aria-label={`${name} of ${model || `model ${index + 1}`}`}
                  value={amounts[field]}
                  placeholder={field === "cached" ? "as input" : "0.00"}
                  onChange={(event) => edit(id, { [field]: event.target.value })}
                />
              </div>
            ))}
            <IconButton
              label={`Remove the price of ${model || `model ${index + 1}`}`}
              icon={<Trash2 />}
              onClick={() => setRows(rows.filter((row) => row.id !== id))}
            />
          </fieldset>
        ))}
        <Button size="sm" variant="ghost" icon={<Plus />} onClick={add} className="w-fit">
          Add price
        </Button>
        <p className="text-12 text-ink-faint">
          A model id also stands for its dated versions. With * at its end it stands for all that begin so. Cached input is what the
          provider says that it read from its cache; left empty, it costs as other input.
        </p>
        {failure !== null && <Notice tone="failed">{failure}</Notice>}
        <DialogFooter>
          <Button type="submit" variant="primary" isPending={isPending}>
            Save prices
          </Button>
        </DialogFooter>
      </form>
    </Dialog>
  );
}

function rowsOf({ prices }: LlmKey): Row[] {
  const stored = prices.map(({ model, input_per_million, cached_input_per_million, output_per_million }, id) => ({
    id,
    model,
    input: String(input_per_million),
    cached: cached_input_per_million === undefined ? "" : String(cached_input_per_million),
    output: String(output_per_million),
  }));
  return stored.length ? stored : [{ id: 0, ...EMPTY }];
}

/** The prices that were typed, or what is missing. Rows in which nothing stands are left out. */
function pricesOf(rows: readonly Row[]): ModelPrice[] | string {
  const typed = rows.filter(({ model, input, cached, output }) => model.trim() || input || cached || output);
  const missing = typed.find(({ model, input, output }) => !model.trim() || input === "" || output === "");
  if (missing) return "Each price needs a model, and what input and output cost. Free is 0.";
  const parsed = ModelPrices.safeParse(
    typed.map(({ model, input, cached, output }) => ({
      model,
      input_per_million: Number(input),
      ...(cached !== "" && { cached_input_per_million: Number(cached) }),
      output_per_million: Number(output),
    })),
  );
  return parsed.success ? parsed.data : "A price is a number from 0 to 100,000.";
}
