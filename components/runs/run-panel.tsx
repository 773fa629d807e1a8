"use client";

import { ArrowUpRight, ChevronDown, ChevronUp } from "lucide-react";
import { type CSSProperties, useEffect, useRef, useState } from "react";
import { AskAboutRun } from "#components/runs/ask-about-run.tsx";
import { RunSummary } from "#components/runs/run-summary.tsx";
import { useRun } from "#components/runs/store/run-context.tsx";
import { isReviewPending } from "#components/runs/store/run-snapshot.ts";
import { useSelectedNode } from "#components/runs/use-selected-node.ts";
import { cn } from "#components/ui/cn.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Link } from "#components/ui/link.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { ResizableDivider, storeLayout } from "#components/ui/resizable-divider.tsx";

// Loaded for the first run that is shown.
const RunPanelBody = loadedOnUse(() => import("#components/runs/run-panel-body.tsx").then((module) => module.RunPanelBody));
const WaitingBanner = loadedOnUse(() => import("#components/runs/run-reviews.tsx").then((module) => module.WaitingBanner));
const ExecutorBanner = loadedOnUse(() => import("#components/runs/executor-banner.tsx").then((module) => module.ExecutorBanner));

const BAR = 30;
const DEFAULT = 206;

/**
 * What ran, under the canvas. Its height and whether it is open are CSS variables set before the first paint: open is 1px
 * or 0px, and the height is that times a thousand, at most the height chosen and at least the bar.
 */
const HEIGHT = `max(${BAR}px, min(calc(var(--layout-run-open, 1px) * 1000), var(--layout-run-panel, ${DEFAULT}px)))`;

/** Room for a question with its two answers. */
const ASKING = "min(30rem, 62dvh)";

export function RunPanel() {
  const executionId = useRun((state) => state.executionId);
  const [isWanted, setIsWanted] = useState(true);
  // A run that the address names comes in a moment: what it needs is kept free for it.
  const [isExpected] = useState(() => typeof location !== "undefined" && new URLSearchParams(location.search).has("run"));
  const [isOpenedEmpty, setIsOpenedEmpty] = useState(false);
  const hasRun = executionId !== null || isExpected;
  /** With nothing to show it takes only its bar, whatever was chosen for runs. */
  const isOpen = hasRun ? isWanted : isOpenedEmpty;
  const selected = useSelectedNode();
  const isWaiting = useRun(isReviewPending);

  useEffect(() => {
    setIsWanted(document.documentElement.style.getPropertyValue("--layout-run-open") !== "0px");
  }, []);
  const open = (next: boolean) => {
    setIsOpenedEmpty(next);
    if (!hasRun && !next) return;
    setIsWanted(next);
    storeLayout("run-open", next ? 1 : 0);
  };
  const shown = useRef(executionId);
  useEffect(() => {
    const isNew = executionId !== null && executionId !== shown.current;
    const isFirst = shown.current === null;
    shown.current = executionId;
    // A run that was just started is worth seeing; one that was open before keeps the panel as it was left.
    if (!isNew || isFirst) return;
    setIsWanted(true);
    storeLayout("run-open", 1);
  }, [executionId]);
  // A question is put where it is seen.
  useEffect(() => {
    if (!isWaiting) return;
    setIsWanted(true);
    storeLayout("run-open", 1);
  }, [isWaiting]);
  const height = hasRun ? HEIGHT : isOpen ? `var(--layout-run-panel, ${DEFAULT}px)` : `${BAR}px`;
  return (
    <>
      {isOpen && (
        <ResizableDivider
          name="run-panel"
          label="Resize the run panel"
          orientation="horizontal"
          area="after"
          defaultSize={DEFAULT}
          min={120}
          max={0.7}
          className="max-md:hidden"
        />
      )}
      <section
        aria-label="Run"
        style={{ "--run-height": isOpen && isWaiting ? `max(${height}, ${ASKING})` : height } as CSSProperties}
        className={cn(
          "flex shrink-0 flex-col overflow-hidden bg-surface md:h-(--run-height)",
          isOpen && executionId ? (isWaiting ? "max-md:h-[72dvh]" : "max-md:h-[44dvh]") : "max-md:h-11",
          isOpen ? "max-md:border-t" : "border-t",
        )}
      >
        <div className="flex h-[30px] shrink-0 items-center gap-2 border-b pr-1 pl-3 max-md:h-11">
          <h2 className="font-semibold text-14">Run</h2>
          <RunSummary />
          <span className="ml-auto flex items-center gap-1">
            {executionId && <AskAboutRun className="h-6 px-1.5" hasExplain={selected === null || !isOpen} />}
            {executionId && (
              <Link
                href={`/runs/${executionId}`}
                className="inline-flex h-6 items-center gap-1 whitespace-nowrap rounded-md px-1.5 text-12 pointer-coarse:h-11 text-thread-text hover:underline"
              >
                Open run
                <ArrowUpRight aria-hidden className="size-3" />
              </Link>
            )}
            <IconButton
              label={isOpen ? "Collapse the run panel" : "Open the run panel"}
              aria-expanded={isOpen}
              size="sm"
              icon={isOpen ? <ChevronDown /> : <ChevronUp />}
              className="max-md:size-9"
              onClick={() => open(!isOpen)}
            />
          </span>
        </div>
        {executionId && <WaitingBanner isPanel={isOpen} onShow={() => open(true)} />}
        {executionId && <ExecutorBanner />}
        <div className={cn("min-h-0 flex-1", !isOpen && "hidden")}>
          {executionId ? (
            <RunPanelBody executionId={executionId} selected={selected} />
          ) : (
            <p className="p-4 text-14 text-ink-soft">Press Run and watch each node work. What goes in and comes out is kept under Runs.</p>
          )}
        </div>
      </section>
    </>
  );
}
