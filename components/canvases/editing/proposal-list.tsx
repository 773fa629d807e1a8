"use client";

import { useQuery } from "@tanstack/react-query";
import { KIND_WORDS, kindOf, nameOf } from "#components/canvases/editing/words.ts";
import { CanvasPicture } from "#components/canvases/list/canvas-picture.tsx";
import { WidgetView } from "#components/canvases/widgets/widget-view.tsx";
import type { CanvasSourceChoice as Source } from "#components/shell/add-to-canvas.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import type { CanvasProposals, OutputPart, Widget, WidgetData } from "#server/features/canvases/schema.ts";

interface ProposalListProps {
  source: Source;
  onAdd: (widget: Widget, data: WidgetData) => void;
  /** Opens the form of one; left out, they are taken as they are. */
  onChange?: (widget: Widget, output: OutputPart | null) => void;
  /** Takes a whole canvas; left out, none is offered. */
  onCanvas?: (widgets: readonly Widget[]) => void;
}

/** Widgets that fit what an Output gave last, drawn with it; one is taken by a click. */
export function ProposalList({ source: { workflow_id, output_label, name }, onAdd, onChange, onCanvas }: ProposalListProps) {
  const trpc = useTRPC();
  const proposals = useQuery(trpc.canvases.proposals.queryOptions({ workflow_id, output_label }));
  const { widgets = [], canvases = [], output = null, execution_id = null } = proposals.data ?? {};
  if (proposals.isError) return <LoadFailure query={proposals} />;
  if (!proposals.data)
    return (
      <div role="status" className="grid gap-3 sm:grid-cols-2">
        <span className="sr-only">Looking at what it gave</span>
        {["one", "two", "three", "four"].map((key) => (
          <Skeleton key={key} className="h-44 w-full" />
        ))}
      </div>
    );
  if (execution_id === null)
    return <p className="text-14 text-ink-soft">No run has given “{name}” yet. Run the workflow once, and come back.</p>;
  const blank: Widget = {
    ...{ id: "own", type: output?.kind === "number" ? "number" : "text", title: name, workflow_id, output_label },
    layout: { x: 0, y: 0, w: 6, h: 4 },
  };
  return (
    <div className="flex min-w-0 flex-col gap-5">
      {widgets.length === 0 && (
        <p className="text-14 text-ink-soft">The latest run gave nothing here. You can still choose a kind yourself.</p>
      )}
      <ul aria-label="Proposals" className="grid gap-3 sm:grid-cols-2">
        {widgets.map(({ widget, data }) => (
          <li key={widget.id} className="flex min-w-0 flex-col gap-1.5">
            <div className="relative h-48 min-w-0 rounded-lg transition-shadow hover:shadow-md">
              <div inert className="flex h-full">
                <WidgetView widget={widget} data={data} isStatic />
              </div>
              <button
                type="button"
                aria-label={`Add ${KIND_WORDS[kindOf(widget)]}: ${nameOf(widget)}`}
                onClick={() => onAdd(widget, data)}
                className="absolute inset-0 w-full rounded-lg outline-offset-2"
              />
            </div>
            <p className="flex items-center justify-between gap-2 text-12 text-ink-faint">
              {KIND_WORDS[kindOf(widget)]}
              {onChange && (
                <Button size="sm" variant="ghost" aria-label={`Change it: ${nameOf(widget)}`} onClick={() => onChange(widget, output)}>
                  Change it
                </Button>
              )}
            </p>
          </li>
        ))}
      </ul>
      {onChange && (
        <Button size="sm" className="self-start" onClick={() => onChange(blank, output)}>
          Choose everything yourself
        </Button>
      )}
      {onCanvas && canvases.length > 0 && <WholeCanvases canvases={canvases} onCanvas={onCanvas} />}
    </div>
  );
}

function WholeCanvases({ canvases, onCanvas }: { canvases: CanvasProposals["canvases"]; onCanvas: (widgets: readonly Widget[]) => void }) {
  return (
    <section aria-labelledby="whole-canvases" className="flex flex-col gap-3 border-t pt-4">
      <h3 id="whole-canvases" className="font-semibold text-14">
        Or a whole canvas of it
      </h3>
      <ul className="grid gap-3 sm:grid-cols-2">
        {canvases.map(({ id, name, description, widgets }) => (
          <li key={id}>
            <button
              type="button"
              onClick={() => onCanvas(widgets)}
              className="flex w-full flex-col overflow-hidden rounded-lg border bg-surface text-left hover:bg-hover"
            >
              <CanvasPicture
                widgets={widgets.map((widget) => ({ type: widget.type, kind: kindOf(widget), layout: widget.layout }))}
                className="aspect-3/1 border-b bg-sunken"
              />
              <span className="flex flex-col gap-0.5 p-3">
                <span className="font-semibold text-14">{name}</span>
                <span className="text-12 text-ink-faint">{description}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
