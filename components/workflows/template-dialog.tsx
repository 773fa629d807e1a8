"use client";

import { useState } from "react";
import { FormFailure } from "#components/forms/form.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { Markdown } from "#components/ui/loaded-markdown.tsx";
import { GraphPicture } from "#components/workflows/graph-picture.tsx";
import { ImportReview } from "#components/workflows/import-review.tsx";
import { TemplateNeeds } from "#components/workflows/template-needs.tsx";
import { type CheckedFile, useImport } from "#components/workflows/use-import.ts";
import type { WorkflowTemplate } from "#server/features/workflow-files/schema.ts";

/** One template: what it looks like, what to change, and the button that makes a workflow of it. */
export function TemplateDialog({ template, onClose }: { template: WorkflowTemplate; onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title={template.file.name} description={template.summary} size="lg">
      <TemplateSteps template={template} />
    </Dialog>
  );
}

function TemplateSteps({ template }: { template: WorkflowTemplate }) {
  const { canEdit } = useStudio();
  const importing = useImport();
  const [checked, setChecked] = useState<CheckedFile | null>(null);
  const { file } = template;
  const start = async () => {
    const found = await importing.check(file);
    if (!found) return;
    // Where nothing must be linked there is nothing to ask.
    if (found.check.is_complete) await importing.send({ file });
    else setChecked(found);
  };
  if (checked) {
    const back = (
      <Button variant="ghost" disabled={importing.isPending} onClick={() => setChecked(null)}>
        Back
      </Button>
    );
    return <ImportReview checked={checked} importing={importing} back={back} action="Use template" />;
  }
  const note = file.nodes.find((node) => node.type === "noteNode")?.data.content;
  return (
    <>
      <TemplateNeeds template={template} />
      <GraphPicture graph={file} hasLabels className="woven min-h-36 rounded-md border bg-paper px-2 py-4" />
      {typeof note === "string" && <Markdown className="text-14 [&>*+*]:mt-2 [&>:first-child]:mt-0">{note}</Markdown>}
      <FormFailure failure={importing.failure} title="Nothing was created" />
      <DialogFooter>
        {canEdit ? (
          <Button variant="primary" isPending={importing.isPending} onClick={() => void start()}>
            Use template
          </Button>
        ) : (
          <p className="text-12 text-ink-soft">An editor or admin of the project can use templates.</p>
        )}
      </DialogFooter>
    </>
  );
}
