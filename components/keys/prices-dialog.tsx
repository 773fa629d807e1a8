"use client";

import { useQueryClient } from "@tanstack/react-query";
import { Plus, Trash2 } from "lucide-react";
import { type FormEvent, useRef, useState } from "react";
import { toast } from "sonner";
import { errorBodyOf, useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Input } from "#components/ui/input.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { priceList } from "#server/providers/prices.ts";
import { type LlmKey, type ModelPrice, ModelPrices } from "#server/schemas/llm-key.ts";

interface Row {
  id: number;
  model: string;
  input: string;
  output: string;
}

/** What models cost with one key. */
export function PricesDialog({ llmKey, onClose }: { llmKey: LlmKey | null; onClose: () => void }) {
  return (
    <Dialog
      open={llmKey !== null}
      onOpenChange={(open) => !open && onClose()}
      title={`Prices of “${llmKey?.name ?? ""}”`}
      description={`US dollars for a million tokens. They count before the built-in list of ${priceList.as_of}, for calls from now on.`}
    >
      {llmKey && <PricesForm llmKey={llmKey} onSaved={onClose} />}
    </Dialog>
  );
}

const NUMBERS = { min: 0, step: "any", inputMode: "decimal", type: "number" } as const;

function PricesForm({ llmKey, onSaved }: { llmKey: LlmKey; onSaved: () => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const [rows, setRows] = useState<Row[]>(() => rowsOf(llmKey));
  const [failure, setFailure] = useState<string | null>(null);
  const [isPending, setIsPending] = useState(false);
  const nextId = useRef(rows.length);
  const edit = (id: number, part: Partial<Row>) => setRows(rows.map((row) => (row.id === id ? { ...row, ...part } : row)));
  const add = () => {
    nextId.current += 1;
    setRows([...rows, { id: nextId.current, model: "", input: "", output: "" }]);
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
      onSaved();
    } catch (error) {
      setFailure(errorBodyOf(error).detail);
      setIsPending(false);
    }
  };
  return (
    <form onSubmit={(event) => void save(event)} noValidate className="flex flex-col gap-3">
      {rows.map(({ id, model, input, output }, index) => (
        <div key={id} className="grid grid-cols-[minmax(0,3fr)_minmax(0,1fr)_minmax(0,1fr)_auto] items-center gap-2">
          <Input
            aria-label={`Model ${index + 1}`}
            value={model}
            placeholder="model-id or model-*"
            spellCheck={false}
            autoComplete="off"
            className="font-mono"
            onChange={(event) => edit(id, { model: event.target.value })}
          />
          <Input
            {...NUMBERS}
            aria-label={`Input price of ${model || `model ${index + 1}`}`}
            value={input}
            placeholder="Input"
            onChange={(event) => edit(id, { input: event.target.value })}
          />
          <Input
            {...NUMBERS}
            aria-label={`Output price of ${model || `model ${index + 1}`}`}
            value={output}
            placeholder="Output"
            onChange={(event) => edit(id, { output: event.target.value })}
          />
          <IconButton
            label={`Remove the price of ${model || `model ${index + 1}`}`}
            icon={<Trash2 />}
            onClick={() => setRows(rows.filter((row) => row.id !== id))}
          />
        </div>
      ))}
      <Button size="sm" variant="ghost" icon={<Plus />} onClick={add} className="w-fit">
        Add price
      </Button>
      <p className="text-12 text-ink-faint">
        A model id also stands for its dated versions. With * at its end it stands for all that begin so.
      </p>
      {failure !== null && <Notice tone="failed">{failure}</Notice>}
      <DialogFooter>
        <Button type="submit" variant="primary" isPending={isPending}>
          Save prices
        </Button>
      </DialogFooter>
    </form>
  );
}

function rowsOf({ prices }: LlmKey): Row[] {
  const stored = prices.map(({ model, input_per_million, output_per_million }, id) => ({
    id,
    model,
    input: String(input_per_million),
    output: String(output_per_million),
  }));
  return stored.length ? stored : [{ id: 0, model: "", input: "", output: "" }];
}

/** The prices that were typed, or what is missing. Rows in which nothing stands are left out. */
function pricesOf(rows: readonly Row[]): ModelPrice[] | string {
  const typed = rows.filter(({ model, input, output }) => model.trim() || input || output);
  const missing = typed.find(({ model, input, output }) => !model.trim() || input === "" || output === "");
  if (missing) return "Each price needs a model, and what input and output cost. Free is 0.";
  const parsed = ModelPrices.safeParse(
    typed.map(({ model, input, output }) => ({ model, input_per_million: Number(input), output_per_million: Number(output) })),
  );
  return parsed.success ? parsed.data : "A price is a number from 0 to 100,000.";
}
