"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { ErrorWorkflowChoice } from "#components/shell/error-workflow.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Link } from "#components/ui/link.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { toast } from "#components/ui/toaster.tsx";

/** Which workflow is started when a run of the project fails whose own workflow names none. */
export function ErrorWorkflowSettings() {
  const { trpc, client, cache } = useApi();
  const { project, canAdminister } = useStudio();
  const saved = useQuery(trpc.projects.get.queryOptions({ project_id: project.id }));
  const change = useMutation({
    mutationFn: (error_workflow_id: string | null) => client.projects.update.mutate({ project_id: project.id, error_workflow_id }),
    onError: (error) => toast.error(errorBodyOf(error).detail),
    onSuccess: () => toast.success("Saved"),
    onSettled: () => cache.invalidateQueries(trpc.projects.get.pathFilter()),
  });
  return (
    <SettingsSection
      title="When a run fails"
      description={
        <>
          For workflows that choose none of their own, under More in the editor. Members are told in the app in any case, and{" "}
          <Link href="/settings/notifications" className="text-thread-text underline">
            by e-mail who asks for it
          </Link>
          .
        </>
      }
    >
      <LoadFailure query={saved} />
      {saved.isPending && <Skeleton className="h-40" />}
      {saved.data && (
        <ErrorWorkflowChoice
          value={change.isPending ? change.variables : saved.data.error_workflow_id}
          none="None"
          disabled={!canAdminister || change.isPending}
          onValueChange={(id) => change.mutate(id)}
        />
      )}
    </SettingsSection>
  );
}
