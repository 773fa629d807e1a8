"use client";

import { useQuery } from "@tanstack/react-query";
import { CanvasGrid } from "#components/canvases/grid.tsx";
import { useInitial } from "#components/canvases/use-canvas-data.ts";
import { WidgetView } from "#components/canvases/widgets/widget-view.tsx";
import { LogoMark } from "#components/shell/logo.tsx";
import { Page, useTitle } from "#components/shell/page.tsx";
import { errorBodyOf, useTRPC } from "#components/trpc.tsx";
import { Time } from "#components/ui/time.tsx";
import type { SharedCanvas } from "#server/features/canvases/schema.ts";

/** How often what is shown is asked for again, in milliseconds. */
const EVERY_MS = 15_000;

interface SharedCanvasPageProps {
  token: string;
  initial: SharedCanvas | null;
  /** Why nothing is shown. */
  problem: string | null;
}

/** A canvas for whoever has its link. Nothing in it leads further, and it goes when the link ends. */
export function SharedCanvasPage({ token, initial, problem }: SharedCanvasPageProps) {
  const trpc = useTRPC();
  const options = trpc.canvases.shared.queryOptions({ token }, { enabled: initial !== null, refetchInterval: EVERY_MS });
  useInitial(options.queryKey, initial ?? undefined);
  const canvas = useQuery(options);
  const ended = canvas.isError && errorBodyOf(canvas.error).status === 404 ? errorBodyOf(canvas.error).detail : problem;
  const shown = ended === null ? canvas.data : undefined;
  useTitle(shown?.name);
  const data = new Map(shown?.data.widgets.map((one) => [one.widget_id, one]));
  return (
    <main className="min-h-dvh">
      <Page width="wide" className="print:p-0">
        <header className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1">
          <h1 className="font-semibold text-24 [overflow-wrap:anywhere]">{shown?.name ?? "This link cannot be used"}</h1>
          {shown && (
            <p className="flex items-center gap-2 text-12 text-ink-faint">
              <LogoMark />
              <span>
                Updated <Time value={shown.data.generated_at} />
              </span>
            </p>
          )}
        </header>
        {ended && <p className="text-14 text-ink-soft">{ended}</p>}
        {shown && <CanvasGrid widgets={shown.widgets}>{(widget) => <WidgetView widget={widget} data={data.get(widget.id)} />}</CanvasGrid>}
      </Page>
    </main>
  );
}
