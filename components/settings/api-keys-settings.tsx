"use client";

import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { FirstCall } from "#components/settings/first-call.tsx";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useListSearch } from "#components/shell/use-list-search.ts";
import { useTRPC } from "#components/trpc.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { Link } from "#components/ui/link.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { RowMenu } from "#components/ui/row-menu.tsx";
import { PagedTable, TableActionsHeader, TableCell, TableHeader, TableRow } from "#components/ui/table.tsx";
import { Time } from "#components/ui/time.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { PlatformKey } from "#server/platform/auth/platform-key-schema.ts";

const CreateApiKeyDialog = loadedOnUse(() =>
  import("#components/settings/create-api-key-dialog.tsx").then(({ CreateApiKeyDialog }) => CreateApiKeyDialog),
);

/** What every key begins with; left out where there is little room. */
const KEY_BEGINNING = "sk-service-";

/** What a key is good for, and where. */
function mayOf({ scopes, project_ids }: PlatformKey, projects: readonly { id: string; name: string }[]): string {
  const what = scopes.length === 3 ? "everything" : scopes.join(", ") || "nothing";
  if (project_ids === null) return `${what}, all projects`;
  const names = project_ids.map((id) => projects.find((project) => project.id === id)?.name ?? "a project you have left");
  return `${what}, in ${names.join(", ")}`;
}

/** When a key ends, for a list of keys. */
export function Expiry({ value }: { value: string | null }) {
  if (value === null) return "never";
  if (Date.parse(value) > Date.now()) return <Time value={value} />;
  return <Badge tone="failed">expired</Badge>;
}

/** How a key begins. */
export function KeyPrefix({ prefix }: { prefix: string | null }) {
  if (prefix === null) return null;
  return (
    <code className="block whitespace-nowrap text-12 text-ink-faint">
      <span className="max-md:hidden">{KEY_BEGINNING}</span>
      {prefix.slice(KEY_BEGINNING.length)}…
    </code>
  );
}

/** When a key was used last, and from where. */
export function LastUse({ last_used_at, last_used_ip }: Pick<PlatformKey, "last_used_at" | "last_used_ip">) {
  return (
    <>
      {last_used_at ? <Time value={last_used_at} className="block whitespace-nowrap" /> : "never"}
      {last_used_ip && <span className="block break-all text-12 text-ink-faint">{last_used_ip}</span>}
    </>
  );
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
  const [deleting, setDeleting] = useState<PlatformKey | null>(null);
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
      <PagedTable
        label="API keys"
        className="md:min-w-150"
        loadingLabel="Loading API keys"
        query={keys}
        search={search}
        page={page}
        onPageChange={setPage}
        head={
          <>
            <TableHeader>Name</TableHeader>
            <TableHeader className="max-md:hidden">May</TableHeader>
            <TableHeader className="max-md:hidden">Created</TableHeader>
            <TableHeader>Expires</TableHeader>
            <TableHeader>Last used</TableHeader>
            <TableActionsHeader />
          </>
        }
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
      >
        {(key) => (
          <TableRow key={key.id}>
            <TableCell className="py-1.5">
              <span className="block font-semibold break-words">{key.name}</span>
              <KeyPrefix prefix={key.prefix} />
              <span className="block text-12 text-ink-faint md:hidden">{mayOf(key, projects)}</span>
            </TableCell>
            <TableCell className="text-ink-soft max-md:hidden">{mayOf(key, projects)}</TableCell>
            <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">
              <Time value={key.created_at} />
            </TableCell>
            <TableCell className="whitespace-nowrap text-ink-soft">
              <Expiry value={key.expires_at} />
            </TableCell>
            <TableCell className="py-1.5 text-ink-soft">
              <LastUse {...key} />
            </TableCell>
            <TableCell className="w-10">
              <RowMenu of={key.name}>
                <MenuItem icon={<Trash2 />} tone="danger" onSelect={() => setDeleting(key)}>
                  Delete
                </MenuItem>
              </RowMenu>
            </TableCell>
          </TableRow>
        )}
      </PagedTable>
      {isCreating && <CreateApiKeyDialog onClose={() => setIsCreating(false)} />}
      {deleting && (
        <ConfirmDialog
          onClose={() => setDeleting(null)}
          title={`Delete API key “${deleting.name}”?`}
          confirmLabel="Delete key"
          onConfirm={async () => {
            await remove.mutateAsync({ key_id: deleting.id });
            await cache.invalidateQueries(trpc.platformKeys.list.pathFilter());
            toast.success(`API key “${deleting.name}” deleted`);
          }}
        >
          Programs that send it are refused from now on.
        </ConfirmDialog>
      )}
    </SettingsSection>
  );
}
