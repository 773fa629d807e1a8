"use client";

import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { ApiKeyTable } from "#components/settings/api-key-table.tsx";
import { FirstCall } from "#components/settings/first-call.tsx";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useListSearch } from "#components/shell/use-list-search.ts";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { Link } from "#components/ui/link.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import type { PlatformKey } from "#server/platform/auth/platform-key-schema.ts";

const CreateApiKeyDialog = loadedOnUse(() =>
  import("#components/settings/create-api-key-dialog.tsx").then(({ CreateApiKeyDialog }) => CreateApiKeyDialog),
);

/** What a key is good for, and where. */
function mayOf({ scopes, project_ids }: PlatformKey, projects: readonly { id: string; name: string }[]): string {
  const what = scopes.length === 3 ? "everything" : scopes.join(", ") || "nothing";
  if (project_ids === null) return `${what}, all projects`;
  const names = project_ids.map((id) => projects.find((project) => project.id === id)?.name ?? "a project you have left");
  return `${what}, in ${names.join(", ")}`;
}

/** One's API keys, and the first call with one. */
export function ApiKeysSettings() {
  return (
    <>
      <ApiKeys />
      <FirstCall />
    </>
  );
}

function ApiKeys() {
  const trpc = useTRPC();
  const { projects } = useStudio();
  const cache = useQueryClient();
  const { input, page, setPage, search } = useListSearch();
  const [isCreating, setIsCreating] = useState(false);
  const keys = useQuery(trpc.platformKeys.list.queryOptions(input, { placeholderData: keepPreviousData }));
  const remove = useMutation(trpc.platformKeys.delete.mutationOptions());
  const create = (
    <Button variant="primary" icon={<Plus />} onClick={() => setIsCreating(true)}>
      Create API key
    </Button>
  );
  return (
    <SettingsSection
      title="API keys"
      description="Yours alone: a key acts as you, within what you give it."
      action={keys.data && (keys.data.total > 0 || search.q) && create}
    >
      <ApiKeyTable
        className="md:min-w-150"
        query={keys}
        search={search}
        page={page}
        onPageChange={setPage}
        mayOf={(key) => mayOf(key, projects)}
        onDelete={async ({ id }) => {
          await remove.mutateAsync({ key_id: id });
          await cache.invalidateQueries(trpc.platformKeys.list.pathFilter());
        }}
        empty={
          <EmptyState
            size="panel"
            title="Drive Treadle from your own programs"
            actions={
              <>
                {create}
                <Link href="/docs/rest" className="text-14 text-thread-text underline underline-offset-2">
                  REST with curl
                </Link>
              </>
            }
          >
            Start a workflow from anywhere over REST, follow its run and read the result.
          </EmptyState>
        }
      />
      {isCreating && <CreateApiKeyDialog onClose={() => setIsCreating(false)} />}
    </SettingsSection>
  );
}
