"use client";

import { WorkflowSelect, type WorkflowSelectProps } from "#components/shell/workflow-select.tsx";
import { CodeBlock } from "#components/ui/code-block.tsx";
import { Field } from "#components/ui/field.tsx";

/** What such a workflow is given (contract, section 6). */
const GIVEN = `{
  "execution_id": "…",
  "workflow": { "id": "…", "name": "Daily digest" },
  "failed_node": { "id": "…", "label": "Research" },
  "error": "The server answered 503 without a body.",
  "url": "https://…/runs/…"
}`;

/** Which workflow is started when a run fails, and what it is given then. */
export function ErrorWorkflowChoice(props: Omit<WorkflowSelectProps, "none"> & { none: string }) {
  return (
    <div className="flex flex-col gap-4">
      <Field label="Start this workflow" hint="Its own failures start nothing, nor do test runs on the canvas.">
        <WorkflowSelect {...props} />
      </Field>
      <CodeBlock title="What it is given" label="What it is given" code={GIVEN} />
      <p className="text-12 text-ink-faint">
        Read there as <code className="font-mono">{"{{trigger.output.error}}"}</code>,{" "}
        <code className="font-mono">{"{{trigger.output.workflow.name}}"}</code> and so on.
      </p>
    </div>
  );
}
