"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { ErrorWorkflowChoice } from "#components/shell/error-workflow.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useWorkflowName } from "#components/shell/use-workflows.ts";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { useSession } from "#components/workflow-editor/session/session-context.tsx";

/** Which workflow is started when a run of this one fails. A choice is saved at once. */
export function ErrorWorkflowDialog({ onClose }: { onClose: () => void }) {
  const { trpc, cache } = useApi();
  const session = useSession();
  const { project } = useStudio();
  const workflow = useQuery(trpc.workflows.get.queryOptions({ workflow_id: session.workflowId }, { staleTime: 0 }));
  const whole = useQuery(trpc.projects.get.queryOptions({ project_id: project.id }));
  const inProject = useWorkflowName(whole.data?.error_workflow_id ?? null);
  const change = useMutation({
    mutationFn: (error_workflow_id: string | null) => session.change({ error_workflow_id }),
    onError: (error) => toast.error(errorBodyOf(error).detail),
    onSuccess: () => toast.success("Saved"),
    onSettled: () => cache.invalidateQueries(trpc.workflows.get.pathFilter()),
  });
  const isProjects = whole.data?.error_workflow_id != null && whole.data.error_workflow_id !== session.workflowId;
  const none = isProjects ? `The project’s: ${inProject ?? "another workflow"}` : "None";
  return (
    <Dialog
      onClose={onClose}
      title="When a run fails"
      description="Members are told in the app in any case. Another workflow can tell others, or clean up."
    >
      <LoadFailure query={workflow} />
      {workflow.isPending && <Skeleton className="h-40" />}
      {workflow.data && (
        <ErrorWorkflowChoice
          value={change.isPending ? change.variables : workflow.data.error_workflow_id}
          except={session.workflowId}
          none={none}
          disabled={change.isPending}
          onValueChange={(id) => change.mutate(id)}
        />
      )}
    </Dialog>
  );
}
