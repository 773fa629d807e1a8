"use client";

import { PanelFold } from "#components/workflow-editor/fields/panel-fold.tsx";
import { RunForm } from "#components/workflow-editor/fields/run-form.tsx";
import { TriggerParameter, triggerNode } from "#server/workflow/nodes/trigger-node.ts";

/** The form as a run asks with it, of what is filled in so far; its button starts nothing. */
export function ParametersPreview({ parameters }: { parameters: readonly TriggerParameter[] }) {
  const whole = parameters.filter(
    ({ name }, index) =>
      TriggerParameter.shape.name.safeParse(name).success && parameters.findIndex((other) => other.name === name) === index,
  );
  if (whole.length === 0) return null;
  const trigger = triggerNode.config.parse({ kind: "params", parameters: whole });
  return (
    <PanelFold title="Preview of the run form">
      <div className="border-t bg-raised p-3">
        {/* Made anew with each change, so that it shows what a run would show. */}
        <RunForm key={JSON.stringify(whole)} trigger={trigger} last={{}} isPending={false} isPreview onRun={() => {}} />
      </div>
    </PanelFold>
  );
}
