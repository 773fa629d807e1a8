"use client";

import { useQuery } from "@tanstack/react-query";
import { ArrowLeft } from "lucide-react";
import { useState } from "react";
import { ProposalList } from "#components/canvases/editing/proposal-list.tsx";
import { SourceList } from "#components/canvases/editing/source-list.tsx";
import { WidgetForm } from "#components/canvases/editing/widget-form.tsx";
import { nameOf } from "#components/canvases/editing/words.ts";
import type { CanvasSourceChoice as Source } from "#components/shell/add-to-canvas.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import type { OutputPart, Widget, WidgetData } from "#server/features/canvases/schema.ts";

interface AddWidgetDialogProps {
  onClose: () => void;
  onAdd: (widgets: readonly Widget[], data?: WidgetData) => void;
  /** Chosen already; left out, it is asked for. */
  source?: Source | undefined;
  /** True while the canvas has nothing on it: then whole ones are offered too. */
  isEmpty: boolean;
}

/** From an Output to a widget: which Output, then which of the proposals, or all of it in a form. */
export function AddWidgetDialog({ onClose, onAdd, source: chosen, isEmpty }: AddWidgetDialogProps) {
  const [source, setSource] = useState<Source | null>(chosen ?? null);
  const [changed, setChanged] = useState<{ widget: Widget; output: OutputPart | null } | null>(null);
  const back = changed ? () => setChanged(null) : source && !chosen ? () => setSource(null) : null;
  const title = changed ? `Widget of “${source?.name ?? ""}”` : source ? `How to show “${source.name}”` : "What to show";
  return (
    <Dialog size="lg" title={title} onClose={onClose}>
      {back && (
        <Button size="sm" variant="ghost" icon={<ArrowLeft />} onClick={back} className="-mt-2 -ml-2 self-start">
          Back
        </Button>
      )}
      {changed ? (
        <WidgetForm {...changed} submitLabel="Add to the canvas" onSubmit={(widget) => onAdd([widget])} />
      ) : source ? (
        <ProposalList
          source={source}
          onAdd={(widget, data) => onAdd([widget], data)}
          onChange={(widget, output) => setChanged({ widget, output })}
          {...(isEmpty && { onCanvas: (widgets: readonly Widget[]) => onAdd(widgets) })}
        />
      ) : (
        <SourceList onChoose={setSource} />
      )}
    </Dialog>
  );
}

/** Everything about a widget that is there. */
export function ChangeWidgetDialog({
  widget,
  onClose,
  onChange,
}: {
  widget: Widget;
  onClose: () => void;
  onChange: (widget: Widget) => void;
}) {
  const trpc = useTRPC();
  const { workflow_id, output_label } = widget;
  const proposals = useQuery(trpc.canvases.proposals.queryOptions({ workflow_id, output_label }, { retry: false }));
  return (
    <Dialog size="lg" title={`Change “${nameOf(widget)}”`} onClose={onClose}>
      {proposals.isPending ? (
        <Skeleton className="h-80 w-full" />
      ) : (
        <WidgetForm widget={widget} output={proposals.data?.output ?? null} submitLabel="Done" onSubmit={onChange} />
      )}
    </Dialog>
  );
}
