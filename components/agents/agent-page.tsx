"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { History, Trash2 } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { AgentChat } from "#components/agents/agent-chat.tsx";
import { draftId, dropDraft } from "#components/agents/agent-draft.ts";
import { AgentForm } from "#components/agents/agent-form.tsx";
import { wholeValues } from "#components/agents/agent-values.ts";
import { type AgentEditing, useAgentForm } from "#components/agents/use-agent-form.ts";
import { BackLink } from "#components/shell/back-link.tsx";
import { NotFound } from "#components/shell/not-found.tsx";
import { Page, useTitle } from "#components/shell/page.tsx";
import { SpentLine } from "#components/shell/spent-line.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useUrlQuery } from "#components/shell/use-url-query.ts";
import { isMissing, useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { MoreMenu } from "#components/ui/more-menu.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { Agent } from "#server/features/agents/schema.ts";

// Loaded when it is first looked at.
const ConfirmDialog = loadedOnUse(() => import("#components/ui/confirm-dialog.tsx").then((module) => module.ConfirmDialog));
const AgentHistory = loadedOnUse(() => import("#components/agents/agent-history.tsx").then((module) => module.AgentHistory));

const COLUMNS = "grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_minmax(340px,460px)]";

export function NewAgentPage() {
  return (
    <Page>
      <PageHeader title="New agent" back={<BackLink href="/agents">Agents</BackLink>} />
      <NewAgent />
    </Page>
  );
}

function NewAgent() {
  const { canEdit } = useStudio();
  const editing = useAgentForm({});
  return (
    <div className={COLUMNS}>
      <AgentForm editing={editing} hasShortcut />
      {canEdit && <TryIt editing={editing} />}
    </div>
  );
}

/** A conversation with what is on the screen: the published version as long as nothing is changed. */
function TryIt({ editing: { form, base, changed } }: { editing: AgentEditing }) {
  const isChanged = !base || changed.length > 0;
  const config = () => import("#components/agents/asked-of.ts").then(({ askedOf }) => askedOf(form.values));
  return <AgentChat subject={{ agentId: base?.id, config: isChanged ? config : undefined }} />;
}

export function AgentPage({ agentId }: { agentId: string }) {
  const { trpc } = useApi();
  const { canEdit } = useStudio();
  const { query, setQuery } = useUrlQuery();
  // A link may ask for it; from then on it opens and closes without a way to the server.
  const [history, setHistory] = useState(query.get("history"));
  const [isDeleting, setIsDeleting] = useState(false);
  // The form holds a copy: a reload in the background must not overwrite what is being typed.
  const agent = useQuery(trpc.agents.get.queryOptions({ agent_id: agentId }, { refetchOnWindowFocus: false }));
  useTitle(agent.data?.name);
  if (agent.isError && isMissing(agent.error)) return <NotFound what="agent" href="/agents" />;
  const closeHistory = () => {
    setHistory(null);
    if (query.has("history")) setQuery({ history: undefined });
  };
  return (
    <Page>
      <PageHeader
        title={agent.data?.name ?? <Skeleton className="my-1.5 h-4 w-40" />}
        back={<BackLink href="/agents">Agents</BackLink>}
        actions={
          agent.data && (
            <>
              <SpentLine scope="agent" id={agentId} />
              <Button icon={<History />} onClick={() => setHistory("")}>
                History
              </Button>
              {canEdit && (
                <MoreMenu>
                  <MenuItem icon={<Trash2 />} tone="danger" onSelect={() => setIsDeleting(true)}>
                    Delete agent
                  </MenuItem>
                </MoreMenu>
              )}
            </>
          )
        }
      />
      <LoadFailure query={agent} />
      {agent.isPending && <Skeleton className="h-96 w-full max-w-160" />}
      {agent.data && <LoadedAgent key={agentId} agent={agent.data} history={history} onHistoryClose={closeHistory} />}
      {isDeleting && <DeleteDialog agentId={agentId} name={agent.data?.name} onClose={() => setIsDeleting(false)} />}
    </Page>
  );
}

interface LoadedAgentProps {
  agent: Agent;
  /** The version whose changes are looked at, empty for none in particular; null while the history is closed. */
  history: string | null;
  onHistoryClose: () => void;
}

function LoadedAgent({ agent, history, onHistoryClose }: LoadedAgentProps) {
  const { canEdit } = useStudio();
  const editing = useAgentForm({ agent });
  const { form, base = agent, takeVersion } = editing;
  return (
    <div className={COLUMNS}>
      <AgentForm editing={editing} hasShortcut />
      {canEdit && <TryIt editing={editing} />}
      {history !== null && (
        <AgentHistory
          agentId={agent.id}
          current={base.version}
          draft={wholeValues(form.values)}
          isChanged={editing.changed.length > 0}
          {...(/^\d+$/.test(history) && { first: Number(history) })}
          onRestore={
            canEdit
              ? (version, config) => {
                  takeVersion(version, config);
                  onHistoryClose();
                }
              : undefined
          }
          onClose={onHistoryClose}
        />
      )}
    </div>
  );
}

function DeleteDialog({ agentId, name, onClose }: { agentId: string; name: string | undefined; onClose: () => void }) {
  const { trpc, cache } = useApi();
  const router = useRouter();
  const { user, project } = useStudio();
  const remove = useMutation(trpc.agents.delete.mutationOptions());
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Delete agent “${name}”?`}
      confirmLabel="Delete agent"
      onConfirm={async () => {
        await remove.mutateAsync({ agent_id: agentId });
        dropDraft(draftId(user.id, project.id, agentId));
        toast.success("Agent deleted");
        router.replace("/agents");
        await cache.invalidateQueries(trpc.agents.list.pathFilter());
      }}
    >
      Past runs keep its answers. An agent that a workflow uses cannot be deleted.
    </ConfirmDialog>
  );
}
