"use client";

import { FormDialog } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useApi } from "#components/trpc.tsx";
import { type Canvas, CreateCanvasInput } from "#server/features/canvases/schema.ts";

const Rename = CreateCanvasInput.pick({ name: true });

/** Asks for another name of a canvas. */
export function RenameDialog({ canvas, onClose }: { canvas: Pick<Canvas, "id" | "name">; onClose: () => void }) {
  const { trpc, client, cache } = useApi();
  const form = useForm({
    schema: Rename,
    initial: { name: canvas.name },
    submit: async ({ name }) => {
      await client.canvases.update.mutate({ canvas_id: canvas.id, name });
      await cache.invalidateQueries(trpc.canvases.pathFilter());
      onClose();
    },
  });
  return (
    <FormDialog onClose={onClose} title="Rename canvas" size="sm" form={form} submitLabel="Rename">
      <FormField form={form} name="name" hint={null} autoFocus autoComplete="off" />
    </FormDialog>
  );
}
