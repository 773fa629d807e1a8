"use client";

import { ChevronRight } from "lucide-react";
import { RunForm } from "#components/editor/run-form.tsx";
import { TriggerParameter, triggerNode } from "#server/engine/nodes/trigger-node.ts";

/** The form as a run asks with it, of what is filled in so far; its button starts nothing. */
export function ParametersPreview({ parameters }: { parameters: readonly TriggerParameter[] }) {
  const whole = parameters.filter(
    ({ name }, index) =>
      TriggerParameter.shape.name.safeParse(name).success && parameters.findIndex((other) => other.name === name) === index,
  );
  if (whole.length === 0) return null;
  const trigger = triggerNode.config.parse({ kind: "params", parameters: whole });
  return (
    <details className="group rounded-md border">
      <summary className="flex h-8 cursor-pointer list-none items-center gap-1.5 px-2.5 font-medium text-12 text-ink-soft hover:text-ink [&::-webkit-details-marker]:hidden">
        <ChevronRight aria-hidden className="size-3.5 transition-transform group-open:rotate-90" />
        Preview of the run form
      </summary>
      <div className="border-t bg-raised p-3">
        {/* Made anew with each change, so that it shows what a run would show. */}
        <RunForm key={JSON.stringify(whole)} trigger={trigger} last={{}} isPending={false} isPreview onRun={() => {}} />
      </div>
    </details>
  );
}
