"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { freePlace } from "#components/canvases/editing/arrange.ts";
import { ProposalList } from "#components/canvases/editing/proposal-list.tsx";
import { nameOf, newWidgetId } from "#components/canvases/editing/words.ts";
import { FormFailure } from "#components/forms/form.tsx";
import { type CanvasSourceChoice, useAddToCanvas } from "#components/shell/add-to-canvas.tsx";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { Field } from "#components/ui/field.tsx";
import { Select } from "#components/ui/select.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { Widget } from "#server/features/canvases/schema.ts";

const NEW = "new";
const MAX_LISTED = 200;

/** Puts what an Output gives on a canvas, from wherever it is seen. */
export function AddToCanvasDialog({ source }: { source: CanvasSourceChoice }) {
  const { trpc, client, cache } = useApi();
  const router = useRouter();
  const canvases = useQuery(trpc.canvases.list.queryOptions({ per_page: MAX_LISTED }));
  const [chosen, setChosen] = useState<string | null>(null);
  // The one that was made last is most often the one that is meant.
  const target = chosen ?? canvases.data?.items[0]?.id ?? NEW;
  const close = () => useAddToCanvas.setState({ wanted: null });
  const add = useMutation({
    mutationFn: async (widget: Widget) => {
      if (target === NEW)
        return client.canvases.create.mutate({
          name: source.name.slice(0, 120),
          widgets: [{ ...widget, id: newWidgetId(), layout: freePlace([], widget.layout) }],
        });
      const { widgets, updated_at } = await client.canvases.get.query({ canvas_id: target });
      const placed = { ...widget, id: newWidgetId(), layout: freePlace(widgets, widget.layout) };
      return client.canvases.update.mutate({ canvas_id: target, widgets: [...widgets, placed], unchanged_since: updated_at });
    },
    // Somebody has saved the canvas in the moment between: what they did is read, and this put beside it.
    retry: (count, error) => count < 3 && errorBodyOf(error).error_code === "CONFLICT",
    onSuccess: ({ id, name }, widget) => {
      void cache.invalidateQueries(trpc.canvases.pathFilter());
      toast.success(`“${nameOf(widget)}” is on “${name}”`, { action: { label: "Open", onClick: () => router.push(`/canvases/${id}`) } });
      close();
    },
  });
  const options = [
    ...(canvases.data?.items.map(({ id, name, widget_count }) => ({ value: id, label: name, isDisabled: widget_count >= 50 })) ?? []),
    { value: NEW, label: "A new canvas" },
  ];
  return (
    <Dialog size="lg" title="Add to a canvas" description={`What “${source.name}” gives, in the form that you choose.`} onClose={close}>
      <Field label="Canvas" className="max-w-72">
        <Select value={target} options={options} onValueChange={setChosen} disabled={canvases.isPending} />
      </Field>
      <ProposalList source={source} onAdd={(widget) => !add.isPending && add.mutate(widget)} />
      <FormFailure failure={add.isError ? errorBodyOf(add.error) : null} />
    </Dialog>
  );
}
