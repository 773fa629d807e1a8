import type { Metadata } from "next";
import { projectCaller } from "#app/server.ts";
import { CanvasPage } from "#components/canvases/canvas-page.tsx";
import { WidgetRange } from "#server/features/canvases/schema.ts";

export const metadata: Metadata = { title: "Canvas" };

interface Props {
  params: Promise<{ canvas_id: string }>;
  searchParams: Promise<{ range?: string | string[] }>;
}

/** Drawn with its data, so that the numbers are there at the first paint. What cannot be read the browser asks for, and says why. */
export default async function Page({ params, searchParams }: Props) {
  const { canvas_id } = await params;
  const range = WidgetRange.safeParse((await searchParams).range).data;
  const caller = await projectCaller();
  const [canvas, data] = await Promise.all([
    caller?.canvases.get({ canvas_id }).catch(() => null),
    caller?.canvases.data({ canvas_id, ...(range && { range }) }).catch(() => null),
  ]);
  return <CanvasPage canvasId={canvas_id} initial={canvas && data ? { canvas, data } : null} />;
}
