"use client";

import { LayoutDashboard } from "lucide-react";
import { create } from "zustand";
import { useStudio } from "#components/shell/studio-context.tsx";
import { Button, type ButtonProps } from "#components/ui/button.tsx";

/** What is to be shown on a canvas: an Output node of a workflow, or with null for its label the output of its runs. */
export interface CanvasSourceChoice {
  workflow_id: string;
  output_label: string | null;
  /** As people know it. */
  name: string;
}

/** What somebody wants on a canvas. It stands here because many pages ask for it, and the canvases know of many pages. */
export const useAddToCanvas = create<{ wanted: CanvasSourceChoice | null }>(() => ({ wanted: null }));

/** Asks on which canvas, and how, an Output is to be shown. Viewers are not offered it. */
export function AddToCanvasButton({ source, ...button }: { source: CanvasSourceChoice } & ButtonProps) {
  const { canEdit } = useStudio();
  if (!canEdit) return null;
  return (
    <Button size="sm" icon={<LayoutDashboard />} {...button} onClick={() => useAddToCanvas.setState({ wanted: source })}>
      Add to a canvas
    </Button>
  );
}
