"use client";

import { Trash2 } from "lucide-react";
import { useState } from "react";
import { Badge } from "#components/ui/badge.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { RowMenu } from "#components/ui/row-menu.tsx";
import { PagedTable, type PagedTableProps, TableActionsHeader, TableCell, TableHeader, TableRow } from "#components/ui/table.tsx";
import { Time } from "#components/ui/time.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { PlatformKey } from "#server/platform/auth/platform-key-schema.ts";

/** What every key begins with; left out where there is little room. */
const KEY_BEGINNING = "sk-service-";

interface ApiKeyTableProps extends Omit<PagedTableProps<PlatformKey>, "label" | "loadingLabel" | "head" | "children"> {
  /** What a key is good for. */
  mayOf: (key: PlatformKey) => string;
  /** Deletes one and has the list read again. */
  onDelete: (key: PlatformKey) => Promise<void>;
}

/** API keys, which can be deleted: one's own, or those of a service account. */
export function ApiKeyTable({ mayOf, onDelete, ...list }: ApiKeyTableProps) {
  const [deleting, setDeleting] = useState<PlatformKey | null>(null);
  return (
    <>
      <PagedTable
        {...list}
        label="API keys"
        loadingLabel="Loading API keys"
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
      >
        {(key) => (
          <TableRow key={key.id}>
            <TableCell className="py-1.5">
              <span className="block font-semibold break-words">{key.name}</span>
              <KeyPrefix prefix={key.prefix} />
              <span className="block text-12 text-ink-faint md:hidden">{mayOf(key)}</span>
            </TableCell>
            <TableCell className="text-ink-soft max-md:hidden">{mayOf(key)}</TableCell>
            <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">
              <Time value={key.created_at} />
            </TableCell>
            <TableCell className="whitespace-nowrap text-ink-soft">
              <Expiry value={key.expires_at} />
            </TableCell>
            <TableCell className="py-1.5 text-ink-soft">
              {key.last_used_at ? <Time value={key.last_used_at} className="block whitespace-nowrap" /> : "never"}
              {key.last_used_ip && <span className="block break-all text-12 text-ink-faint">{key.last_used_ip}</span>}
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
      {deleting && (
        <ConfirmDialog
          onClose={() => setDeleting(null)}
          title={`Delete API key “${deleting.name}”?`}
          confirmLabel="Delete key"
          onConfirm={async () => {
            await onDelete(deleting);
            toast.success(`API key “${deleting.name}” deleted`);
          }}
        >
          Programs that send it are refused from now on.
        </ConfirmDialog>
      )}
    </>
  );
}

function Expiry({ value }: { value: string | null }) {
  if (value === null) return "never";
  if (Date.parse(value) > Date.now()) return <Time value={value} />;
  return <Badge tone="failed">expired</Badge>;
}

/** How a key begins. */
function KeyPrefix({ prefix }: { prefix: string | null }) {
  if (prefix === null) return null;
  return (
    <code className="block whitespace-nowrap text-12 text-ink-faint">
      <span className="max-md:hidden">{KEY_BEGINNING}</span>
      {prefix.slice(KEY_BEGINNING.length)}…
    </code>
  );
}
