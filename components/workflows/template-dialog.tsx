"use client";

import { useState } from "react";
import { plural } from "#components/format.ts";
import { FormFailure } from "#components/forms/form.tsx";
import { TriggerLabel } from "#components/runs/trigger-label.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { GraphPicture } from "#components/workflows/graph-picture.tsx";
import { ImportReview } from "#components/workflows/import-review.tsx";
import { type CheckedFile, useImport } from "#components/workflows/use-import.ts";
import type { WorkflowTemplate } from "#server/features/workflow-files/schema.ts";

const Markdown = loadedOnUse(() => import("#components/ui/markdown.tsx").then((module) => module.Markdown));

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

/** Kind of the trigger of a template. */
const triggerOf = ({ file }: WorkflowTemplate): string =>
  String(file.nodes.find((node) => node.type === "triggerNode")?.data.kind ?? "manual");

/** What starts a template, and what must be there to run it. */
export function TemplateNeeds({ template }: { template: WorkflowTemplate }) {
  const { agents, rag_sources, mcp_servers, workflows = [] } = template.file.requires;
  const searches = agents.some(({ tools }) => tools.length > 0);
  return (
    <span className="flex flex-wrap items-center gap-1.5 text-12">
      <span className="mr-1">
        <TriggerLabel kind={triggerOf(template)} />
      </span>
      {template.needs_model ? <Badge>{plural(agents.length, "agent")}</Badge> : <Badge tone="complete">No model key needed</Badge>}
      {workflows.length > 0 && <Badge>{plural(workflows.length, "sub-workflow")}</Badge>}
      {searches && <Badge>Web search</Badge>}
      {rag_sources.length > 0 && <Badge>Knowledge</Badge>}
      {mcp_servers.length > 0 && <Badge>MCP</Badge>}
    </span>
  );
}
