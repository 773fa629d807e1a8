"use client";

import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useMemo, useState } from "react";
import { plural } from "#components/format.ts";
import { FormDialog } from "#components/forms/form.tsx";
import { errorBodyOf, useApi, useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { Field } from "#components/ui/field.tsx";
import { Input } from "#components/ui/input.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { useCanvasUi, useCanvasUiStore, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { useAgentNames, useCredentialNames } from "#components/workflow-editor/nodes/project-lookups.tsx";
import { useSessionState } from "#components/workflow-editor/session/session-context.tsx";
import type { ErrorBody } from "#server/shared/error-schema.ts";
import { extractWorkflow } from "#server/workflow/compose/extract.ts";
import { inlineWorkflow } from "#server/workflow/compose/inline.ts";
import { ComposeRefusal } from "#server/workflow/compose/reads.ts";
import type { NodeScope } from "#server/workflow/nodes/definition.ts";
import { workflowNode } from "#server/workflow/nodes/workflow-node.ts";

/** Makes a workflow of nodes, or puts one in place of its node; open while the canvas asks for it. */
export function ComposeDialog() {
  const ui = useCanvasUiStore();
  const composing = useCanvasUi((state) => state.composing);
  const onClose = () => ui.setState({ composing: null });
  if (!composing) return null;
  return composing.kind === "extract" ? (
    <ExtractDialog nodeIds={composing.nodeIds} onClose={onClose} />
  ) : (
    <InlineDialog nodeId={composing.nodeId} onClose={onClose} />
  );
}

function useScope(): NodeScope {
  const { agentName } = useAgentNames();
  const credentialNames = useCredentialNames();
  return useMemo(() => ({ agentName: (id) => agentName(id) ?? undefined, credentialNames }), [agentName, credentialNames]);
}

/** What the work comes to, or why it cannot be done. */
function attempt<Result>(work: () => Result): Result | { refusal: string } {
  try {
    return work();
  } catch (error) {
    if (error instanceof ComposeRefusal) return { refusal: error.message };
    throw error;
  }
}

function ExtractDialog({ nodeIds, onClose }: { nodeIds: readonly string[]; onClose: () => void }) {
  const editor = useEditorStore();
  const { trpc, client, cache } = useApi();
  const scope = useScope();
  const parent = useSessionState((state) => state.name);
  const [name, setName] = useState(`Part of ${parent}`.slice(0, 120));
  const [failure, setFailure] = useState<ErrorBody | null>(null);
  const [isPending, setIsPending] = useState(false);
  const made = useMemo(
    () => attempt(() => extractWorkflow(editor.getState().graph(), new Set(nodeIds), name, scope)),
    [editor, nodeIds, name, scope],
  );
  if ("refusal" in made) return <Refused title="Extract into a workflow" refusal={made.refusal} onClose={onClose} />;
  const { workflow, graphWith, node_id, given } = made;
  const count = workflow.nodes.length - 2;
  const submit = async () => {
    setIsPending(true);
    setFailure(null);
    try {
      const { id } = await client.workflows.create.mutate({ name: name.trim(), nodes: workflow.nodes, edges: workflow.edges });
      void cache.invalidateQueries(trpc.workflows.pathFilter());
      editor.getState().replace(graphWith(id), `extract ${plural(count, "node")}`);
      editor.getState().selectOnly(node_id);
      toast.success(`${name.trim()} made of ${plural(count, "node")}`);
      onClose();
    } catch (error) {
      setFailure(errorBodyOf(error));
      setIsPending(false);
    }
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (!isPending && name.trim() !== "") void submit();
  };
  return (
    <FormDialog
      onClose={onClose}
      title="Extract into a workflow"
      description={`${plural(count, "node")} become a workflow of their own, which a Workflow node runs in their place.`}
      form={{ failure, isPending, onSubmit }}
      submitLabel="Extract"
      disabled={name.trim() === ""}
    >
      <Field label="Name of the workflow" hint="Undo brings the nodes back here; the new workflow stays.">
        <Input value={name} maxLength={120} autoFocus onChange={(event) => setName(event.target.value)} />
      </Field>
      {given.length > 0 && (
        <div className="text-12 text-ink-soft">
          <p>It is handed what it reads of others:</p>
          <ul className="mt-1 flex flex-col gap-0.5 font-mono">
            {given.map((expression) => (
              <li key={expression} className="break-all">
                {expression}
              </li>
            ))}
          </ul>
        </div>
      )}
    </FormDialog>
  );
}

function InlineDialog({ nodeId, onClose }: { nodeId: string; onClose: () => void }) {
  const editor = useEditorStore();
  const trpc = useTRPC();
  const scope = useScope();
  const { workflow_id, version } = workflowNode.config.parse(editor.getState().data[nodeId] ?? {});
  const isCurrent = version === "current";
  const current = useQuery(trpc.workflows.get.queryOptions({ workflow_id }, { enabled: isCurrent }));
  const older = useQuery(trpc.workflowVersions.get.queryOptions({ workflow_id, version: Number(version) }, { enabled: !isCurrent }));
  const query = isCurrent ? current : older;
  const { data: child } = query;
  const made = useMemo(
    () => child && attempt(() => ({ graph: inlineWorkflow(editor.getState().graph(), nodeId, child, scope) })),
    [editor, nodeId, child, scope],
  );
  const title = "Inline the workflow";
  if (made && "refusal" in made) return <Refused title={title} refusal={made.refusal} onClose={onClose} />;
  return (
    <Dialog
      onClose={onClose}
      title={title}
      description="Its nodes take the place of this one, under names that are free here. The workflow itself stays as it is."
    >
      {query.error && <LoadFailure query={query} />}
      <DialogFooter>
        <Button
          variant="primary"
          autoFocus
          isPending={query.isPending}
          disabled={!made}
          onClick={() => {
            if (!made) return;
            editor.getState().replace(made.graph, "inline a workflow");
            editor.getState().selectOnly(null);
            editor.getState().say("Workflow inlined");
            onClose();
          }}
        >
          Inline
        </Button>
      </DialogFooter>
    </Dialog>
  );
}

const Refused = ({ title, refusal, onClose }: { title: string; refusal: string; onClose: () => void }) => (
  <Dialog onClose={onClose} title={title}>
    <Notice tone="waiting" title="This cannot be done as it is">
      {refusal}
    </Notice>
    <DialogFooter>
      <Button autoFocus onClick={onClose}>
        Close
      </Button>
    </DialogFooter>
  </Dialog>
);
