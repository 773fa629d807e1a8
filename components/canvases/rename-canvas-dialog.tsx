"use client";

import { RenameDialog } from "#components/forms/rename-dialog.tsx";
import { useApi } from "#components/trpc.tsx";
import { type Canvas, CreateCanvasInput } from "#server/features/canvases/schema.ts";

const Name = CreateCanvasInput.pick({ name: true });

/** Asks for another name of a canvas. */
export function RenameCanvasDialog({ canvas, onClose }: { canvas: Pick<Canvas, "id" | "name">; onClose: () => void }) {
  const { trpc, client, cache } = useApi();
  const save = async ({ name }: { name: string }) => {
    await client.canvases.update.mutate({ canvas_id: canvas.id, name });
    await cache.invalidateQueries(trpc.canvases.pathFilter());
  };
  return <RenameDialog what="canvas" schema={Name} initial={{ name: canvas.name }} save={save} onClose={onClose} />;
}
