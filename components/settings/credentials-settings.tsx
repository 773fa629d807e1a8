"use client";

import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { Plus, RefreshCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useListSearch } from "#components/shell/use-list-search.ts";
import { useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { CopyItem } from "#components/ui/copy-item.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { Link } from "#components/ui/link.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { RowMenu } from "#components/ui/row-menu.tsx";
import { PagedTable, TableActionsHeader, TableCell, TableHeader, TableRow } from "#components/ui/table.tsx";
import { Time } from "#components/ui/time.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { Credential } from "#server/features/credentials/schema.ts";

const AddCredentialDialog = loadedOnUse(() =>
  import("#components/settings/credential-dialog.tsx").then((module) => module.AddCredentialDialog),
);
const ReplaceCredentialDialog = loadedOnUse(() =>
  import("#components/settings/credential-dialog.tsx").then((module) => module.ReplaceCredentialDialog),
);

export function CredentialsSettings() {
  const { trpc, cache } = useApi();
  const { canAdminister, project } = useStudio();
  const { input, page, setPage, search } = useListSearch();
  const [isAdding, setIsAdding] = useState(false);
  const [renewed, setRenewed] = useState<Credential | null>(null);
  const [deleting, setDeleting] = useState<Credential | null>(null);
  const credentials = useQuery(trpc.credentials.list.queryOptions(input, { placeholderData: keepPreviousData }));
  const remove = useMutation(trpc.credentials.delete.mutationOptions());
  const add = canAdminister && (
    <Button variant="primary" icon={<Plus />} onClick={() => setIsAdding(true)}>
      Add credential
    </Button>
  );
  const readOnlyReason = `Only admins of ${project.name} add or delete credentials; you are ${project.role}.`;
  return (
    <SettingsSection
      title="Credentials"
      description={`Secrets that the project's workflows read by name. ${canAdminister ? "" : readOnlyReason}`}
      action={credentials.data && (credentials.data.total > 0 || search.q) && add}
    >
      <PagedTable
        label="Credentials"
        className="md:min-w-120"
        loadingLabel="Loading credentials"
        query={credentials}
        search={search}
        page={page}
        onPageChange={setPage}
        head={
          <>
            <TableHeader>Name</TableHeader>
            <TableHeader className="max-md:hidden">In expressions</TableHeader>
            <TableHeader className="max-md:hidden">Added</TableHeader>
            <TableActionsHeader />
          </>
        }
        empty={
          <EmptyState
            size="panel"
            title="Keep secrets out of your workflows"
            actions={
              <>
                {add}
                <Link href="/docs/expressions" className="text-14 text-thread-text underline underline-offset-2">
                  Expressions
                </Link>
              </>
            }
          >
            Store a token or password once, then write <code className="font-mono text-12 text-ink">{"{{credentials.NAME}}"}</code> wherever
            a node takes an expression. The value is filled in when the workflow runs, and shows as <span aria-hidden>••••</span>
            <span className="sr-only">dots</span> in results and logs.
          </EmptyState>
        }
      >
        {(credential) => (
          <CredentialRow
            key={credential.id}
            credential={credential}
            {...(canAdminister && { onReplace: () => setRenewed(credential), onDelete: () => setDeleting(credential) })}
          />
        )}
      </PagedTable>
      {isAdding && <AddCredentialDialog onClose={() => setIsAdding(false)} />}
      {renewed && <ReplaceCredentialDialog credential={renewed} onClose={() => setRenewed(null)} />}
      {deleting && (
        <ConfirmDialog
          onClose={() => setDeleting(null)}
          title={`Delete credential ${deleting.name}?`}
          confirmLabel="Delete credential"
          onConfirm={async () => {
            await remove.mutateAsync({ cred_id: deleting.id });
            await cache.invalidateQueries(trpc.credentials.list.pathFilter());
            toast.success(`Credential ${deleting.name} deleted`);
          }}
        >
          Its value cannot be brought back. The secret stays valid where it came from: revoke it there if it leaked.
        </ConfirmDialog>
      )}
    </SettingsSection>
  );
}

interface CredentialRowProps {
  credential: Credential;
  onReplace?: () => void;
  onDelete?: () => void;
}

function CredentialRow({ credential: { name, created_at }, onReplace, onDelete }: CredentialRowProps) {
  const expression = `{{credentials.${name}}}`;
  return (
    <TableRow>
      <TableCell className="break-all font-semibold font-mono text-12">{name}</TableCell>
      <TableCell className="max-md:hidden">
        <code className="break-all font-mono text-12 text-ink-soft">{expression}</code>
      </TableCell>
      <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">
        <Time value={created_at} />
      </TableCell>
      <TableCell className="w-10">
        <RowMenu of={name}>
          <CopyItem what="expression" text={() => expression} />
          {onReplace && (
            <MenuItem icon={<RefreshCw />} onSelect={onReplace}>
              Replace value
            </MenuItem>
          )}
          {onDelete && (
            <MenuItem icon={<Trash2 />} tone="danger" onSelect={onDelete}>
              Delete
            </MenuItem>
          )}
        </RowMenu>
      </TableCell>
    </TableRow>
  );
}
