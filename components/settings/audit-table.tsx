"use client";

import { ChevronDown, ChevronRight } from "lucide-react";
import { Fragment, useState } from "react";
import { formatDateTime } from "#components/format.ts";
import { CodeBlock } from "#components/ui/code-block.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Link } from "#components/ui/link.tsx";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "#components/ui/table.tsx";
import { Time } from "#components/ui/time.tsx";
import type { AuditEntry, AuditResource } from "#server/features/audit/schema.ts";

/** Entries as rows; each opens to show what it holds. */
export function AuditTable({ entries }: { entries: readonly AuditEntry[] }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string) =>
    setOpen((current) => {
      const next = new Set(current);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  return (
    <Table label="Audit log" className="md:min-w-170">
      <TableHead>
        <TableHeader className="max-md:hidden">When</TableHeader>
        <TableHeader className="max-md:hidden">Who</TableHeader>
        <TableHeader className="max-md:hidden">Via</TableHeader>
        <TableHeader>Action</TableHeader>
        <TableHeader className="w-full">Resource</TableHeader>
        <TableHeader>
          <span className="sr-only">Details</span>
        </TableHeader>
      </TableHead>
      <TableBody>
        {entries.map((entry) => (
          <Fragment key={entry.id}>
            <EntryRow entry={entry} isOpen={open.has(entry.id)} onToggle={() => toggle(entry.id)} />
            {open.has(entry.id) && <EntryDetails entry={entry} />}
          </Fragment>
        ))}
      </TableBody>
    </Table>
  );
}

function EntryRow({ entry, isOpen, onToggle }: { entry: AuditEntry; isOpen: boolean; onToggle: () => void }) {
  const place = resourceHref(entry);
  const name = entry.resource_name || entry.resource_id;
  return (
    <TableRow>
      <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">
        <Time value={entry.created_at} />
      </TableCell>
      <TableCell className="max-w-44 truncate max-md:hidden">{entry.actor.email}</TableCell>
      <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">{viaLabels[entry.via]}</TableCell>
      <TableCell className="whitespace-nowrap font-medium max-md:align-top max-md:pt-2">{formatAction(entry.action)}</TableCell>
      <TableCell className="max-w-0">
        <span className="flex min-w-0 items-baseline gap-2">
          <span className="shrink-0 text-12 text-ink-faint">{resourceLabel(entry.resource_type)}</span>
          {place === undefined ? (
            <span className="truncate">{name}</span>
          ) : (
            <Link href={place} className="truncate underline-offset-2 hover:underline">
              {name}
            </Link>
          )}
        </span>
        <span className="flex min-w-0 gap-1.5 text-12 text-ink-faint md:hidden">
          <span className="truncate">{entry.actor.email}</span>
          <Time value={entry.created_at} className="shrink-0" />
        </span>
      </TableCell>
      <TableCell className="w-10">
        <IconButton
          label={`${isOpen ? "Hide" : "Show"} details of ${formatAction(entry.action)} ${name}`}
          icon={isOpen ? <ChevronDown /> : <ChevronRight />}
          aria-expanded={isOpen}
          onClick={onToggle}
        />
      </TableCell>
    </TableRow>
  );
}

function EntryDetails({ entry }: { entry: AuditEntry }) {
  const facts = [
    ["Time", formatDateTime(entry.created_at)],
    ["Action", entry.action],
    ["User ID", entry.actor.id ?? "no account"],
    ["Resource ID", entry.resource_id],
  ] as const;
  return (
    <tr>
      <td colSpan={6} className="bg-sunken/50 px-3 py-3">
        <dl className="grid grid-cols-[max-content_1fr] gap-x-4 gap-y-1 text-12">
          {facts.map(([name, value]) => (
            <Fragment key={name}>
              <dt className="text-ink-faint">{name}</dt>
              <dd className="min-w-0 break-all font-mono">{value}</dd>
            </Fragment>
          ))}
        </dl>
        {entry.detail && <CodeBlock label="details" code={JSON.stringify(entry.detail, null, 2)} className="mt-3" wraps />}
      </td>
    </tr>
  );
}

/** What an entry is about, in words. */
export const resourceLabels: Record<AuditResource, string> = {
  project: "Project",
  member: "Member",
  account: "Account",
  platform_key: "API key",
  service_account: "Service account",
  install_admin: "Install admin",
  llm_key: "LLM key",
  credential: "Credential",
  agent: "Agent",
  workflow: "Workflow",
  execution: "Run",
  review: "Review",
  rag: "Knowledge",
  mcp_server: "MCP server",
  skill: "Skill",
  canvas: "Canvas",
  assistant: "Assistant",
};

export const isAuditResource = (text: string | null): text is AuditResource => text !== null && Object.hasOwn(resourceLabels, text);

export const resourceLabel = (type: string): string => (isAuditResource(type) ? resourceLabels[type] : type);

export const viaLabels: Record<AuditEntry["via"], string> = {
  session: "web app",
  platform_key: "API",
  email: "e-mail link",
  assistant: "assistant",
  system: "service",
};

/** `workflow.update` in words: `update`; `member.change_role`: `change role`. */
export const formatAction = (action: string): string => action.slice(action.indexOf(".") + 1).replaceAll("_", " ");

/** Where the resource can be looked at, as long as it is there. */
export function resourceHref({ action, resource_type, resource_id, detail }: AuditEntry): string | undefined {
  const execution = typeof detail?.execution_id === "string" ? detail.execution_id : undefined;
  if (resource_type === "review" && execution) return `/runs/${execution}`;
  if (action === `${resource_type}.delete` || !isAuditResource(resource_type)) return undefined;
  const places: Partial<Record<AuditResource, string>> = {
    project: "/settings/project",
    member: "/settings/members",
    llm_key: "/keys",
    agent: `/agents/${resource_id}`,
    workflow: `/workflows/${resource_id}`,
    execution: `/runs/${resource_id}`,
  };
  return places[resource_type];
}
