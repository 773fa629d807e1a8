"use client";

import { Check } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { Link } from "#components/ui/link.tsx";

export interface SetupStep {
  title: string;
  text: ReactNode;
  isDone: boolean;
  action: ReactNode;
}

/** What to do next in a new project. The first open step carries the button; done ones are ticked as they happen. */
export function SetupChecklist({ steps }: { steps: readonly SetupStep[] }) {
  const next = steps.findIndex((step) => !step.isDone);
  const done = steps.filter((step) => step.isDone).length;
  return (
    <section aria-labelledby="setup-title" className="rounded-lg border border-line-strong bg-surface">
      <div className="flex items-baseline justify-between gap-4 px-5 pt-4 pb-2">
        <h2 id="setup-title" className="font-semibold text-16">
          From nothing to a first run
        </h2>
        <p className="text-12 text-ink-soft tabular">
          {done} of {steps.length}
        </p>
      </div>
      <ol className="px-5 pb-3">
        {steps.map((step, index) => (
          <li key={step.title} className="relative flex items-start gap-3 py-2">
            {index < steps.length - 1 && (
              <span
                aria-hidden
                className={cn("absolute top-8 bottom-[-8px] left-2.5 w-px", step.isDone ? "bg-thread" : "bg-line-strong")}
              />
            )}
            <span
              aria-hidden
              className={cn(
                "relative z-1 grid size-5.25 shrink-0 place-items-center rounded-full border font-semibold text-12 tabular",
                step.isDone
                  ? "border-thread bg-thread text-on-thread"
                  : index === next
                    ? "border-thread bg-surface text-thread-text"
                    : "border-line-strong bg-surface text-ink-faint",
              )}
            >
              {step.isDone ? <Check className="size-3" strokeWidth={3} /> : index + 1}
            </span>
            <div className="min-w-0 flex-1">
              <p className={cn("font-semibold", step.isDone && "text-ink-soft")}>
                {step.title}
                {step.isDone && <span className="sr-only"> (done)</span>}
              </p>
              {!step.isDone && <p className="text-12 text-ink-soft">{step.text}</p>}
            </div>
            {index === next && step.action}
          </li>
        ))}
      </ol>
    </section>
  );
}

export const StepLink = ({ href, children }: { href: string; children: string }) => (
  <Button asChild variant="primary" size="sm">
    <Link href={href}>{children}</Link>
  </Button>
);
