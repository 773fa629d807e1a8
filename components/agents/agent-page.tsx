"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { AgentChat } from "#components/agents/agent-chat.tsx";
import { AgentEditor } from "#components/agents/agent-form.tsx";
import { BackLink } from "#components/shell/back-link.tsx";
import { NotFound } from "#components/shell/not-found.tsx";
import { Page, useTitle } from "#components/shell/page.tsx";
import { SpentLine } from "#components/shell/spent-line.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { toast } from "#components/ui/toaster.tsx";

export function NewAgentPage() {
  return (
    <Page width="narrow">
      <PageHeader title="New agent" back={<BackLink href="/agents">Agents</BackLink>} />
      <AgentEditor />
    </Page>
  );
}

export function AgentPage({ agentId }: { agentId: string }) {
  const { trpc, cache } = useApi();
  const router = useRouter();
  const { canEdit } = useStudio();
  const [isDirty, setIsDirty] = useState(false);
  const [isDeleting, setIsDeleting] = useState(false);
  // The form holds a copy: a reload in the background must not overwrite what is being typed.
  const agent = useQuery(trpc.agents.get.queryOptions({ agent_id: agentId }, { refetchOnWindowFocus: false }));
  useTitle(agent.data?.name);
  const remove = useMutation(trpc.agents.delete.mutationOptions());
  if (agent.isError && errorBodyOf(agent.error).status === 404) return <NotFound what="agent" href="/agents" />;
  return (
    <Page>
      <PageHeader
        title={agent.data?.name ?? <Skeleton className="my-1.5 h-4 w-40" />}
        back={<BackLink href="/agents">Agents</BackLink>}
        actions={
          canEdit && agent.data && <IconButton label="Delete agent" icon={<Trash2 />} size="lg" onClick={() => setIsDeleting(true)} />
        }
      />
      <LoadFailure query={agent} />
      {agent.data && <SpentLine scope="agent" id={agentId} />}
      {agent.isPending && <Skeleton className="h-96 w-full max-w-160" />}
      {agent.data && (
        <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_minmax(340px,460px)]">
          <AgentEditor key={agentId} agent={agent.data} onDirtyChange={setIsDirty} />
          {canEdit && <AgentChat key={`chat ${agentId}`} agentId={agentId} isDirty={isDirty} />}
        </div>
      )}
      {isDeleting && (
        <ConfirmDialog
          onClose={() => setIsDeleting(false)}
          title={`Delete agent “${agent.data?.name}”?`}
          confirmLabel="Delete agent"
          onConfirm={async () => {
            await remove.mutateAsync({ agent_id: agentId });
            toast.success("Agent deleted");
            router.replace("/agents");
            await cache.invalidateQueries(trpc.agents.list.pathFilter());
          }}
        >
          Past runs keep its answers. An agent that a workflow uses cannot be deleted.
        </ConfirmDialog>
      )}
    </Page>
  );
}
