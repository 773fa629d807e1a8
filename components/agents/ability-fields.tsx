"use client";

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { plural } from "#components/format.ts";
import { useTRPC } from "#components/trpc.tsx";
import { Checkbox } from "#components/ui/checkbox.tsx";
import { cn } from "#components/ui/cn.ts";
import { FieldError } from "#components/ui/field.tsx";
import { Link } from "#components/ui/link.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { thumbRoom } from "#components/ui/styles.ts";
import type { Agent } from "#server/features/agents/schema.ts";
import { providerKind } from "#server/llm/kinds.ts";

type Abilities = Pick<Agent, "tools" | "mcp_server_ids" | "rag_ids" | "skill_ids">;
type AgentTool = Agent["tools"][number];

/** The built-in tools in words; a tool that is added to the schema must be named here. */
const TOOLS: Record<AgentTool, { name: string; hint: string }> = {
  web_search: { name: "Web search", hint: "web_search: finds pages by words" },
  web_scraper: { name: "Web page reader", hint: "web_scraper: reads a page or PDF whose address it knows" },
};
const tools = (Object.keys(TOOLS) as AgentTool[]).map((id) => ({ id, ...TOOLS[id] }));

export interface AbilityFieldsProps {
  /** The LLM key that is chosen: its provider decides whether tools can be called. */
  keyId: string;
  value: Abilities;
  /** Each list is set by itself. */
  onTools: (tools: AgentTool[]) => void;
  onLinks: (name: "mcp_server_ids" | "rag_ids" | "skill_ids", ids: string[]) => void;
  errorOf: (name: string) => string | undefined;
}

/** What the agent may use: tools, MCP servers, knowledge and skills of the project. */
export function AbilityFields({ keyId, value, onTools, onLinks, errorOf }: AbilityFieldsProps) {
  const trpc = useTRPC();
  const all = { page: 1, per_page: 200 };
  const keys = useQuery(trpc.llmKeys.list.queryOptions({ per_page: 200 }));
  const servers = useQuery(trpc.mcp.list.queryOptions(all));
  const rags = useQuery(trpc.rags.list.queryOptions(all));
  const skills = useQuery(trpc.skills.list.queryOptions(all));
  const provider = keys.data?.items.find(({ id }) => id === keyId)?.provider;
  const kind = provider && providerKind(provider);
  const noTools = kind && !kind.supportsTools ? `Models of ${kind.label} cannot call tools.` : undefined;
  return (
    <>
      <LinkPicker
        legend="Tools"
        hint="The model decides when to use them."
        options={tools}
        hasFailed={false}
        value={value.tools}
        onValueChange={(ids) => onTools(tools.flatMap(({ id }) => (ids.includes(id) ? [id] : [])))}
        empty=""
        manage={{ href: "/credentials", label: "Keys for search services" }}
        disabledReason={noTools}
        error={errorOf("tools")}
      />
      <LinkPicker
        legend="Knowledge"
        hint="The model searches these before it answers, and cites what it found."
        options={rags.data?.items.map(({ id, name, type, documents }) => ({
          id,
          name,
          hint: documents ? plural(documents.total, "document") : type,
        }))}
        hasFailed={rags.isError}
        value={value.rag_ids}
        onValueChange={(ids) => onLinks("rag_ids", ids)}
        empty="This project has no knowledge yet."
        manage={{ href: "/knowledge", label: "Manage knowledge" }}
        disabledReason={noTools}
        error={errorOf("rag_ids")}
      />
      <LinkPicker
        legend="MCP servers"
        hint="The model may call every tool of theirs that is switched on."
        options={servers.data?.items.map(({ id, name, url }) => ({ id, name, hint: <span className="break-all">{url}</span> }))}
        hasFailed={servers.isError}
        value={value.mcp_server_ids}
        onValueChange={(ids) => onLinks("mcp_server_ids", ids)}
        empty="This project is connected to no MCP server yet."
        manage={{ href: "/mcp", label: "Manage MCP servers" }}
        disabledReason={noTools}
        error={errorOf("mcp_server_ids")}
      />
      <LinkPicker
        legend="Skills"
        hint="Their prompts follow the system prompt in every call."
        options={skills.data?.items.map(({ id, name, description }) => ({ id, name, hint: description }))}
        hasFailed={skills.isError}
        value={value.skill_ids}
        onValueChange={(ids) => onLinks("skill_ids", ids)}
        empty="There are no skills."
        manage={{ href: "/skills", label: "Manage skills" }}
        error={errorOf("skill_ids")}
      />
    </>
  );
}

export interface LinkOption {
  id: string;
  name: string;
  /** A few words under the name. */
  hint?: ReactNode;
}

export interface LinkPickerProps {
  legend: string;
  /** What the choice does, under the legend. */
  hint: string;
  /** Undefined while they are loaded. */
  options: readonly LinkOption[] | undefined;
  hasFailed: boolean;
  value: readonly string[];
  onValueChange: (ids: string[]) => void;
  /** What stands there when there is nothing to choose. */
  empty: string;
  /** Where such things are made. */
  manage: { href: string; label: string };
  /** Why nothing can be chosen now. */
  disabledReason?: string | undefined;
  error?: string | undefined;
}

/** Several of the project's resources, as boxes to tick. What was chosen and can no longer be found can still be taken out. */
export function LinkPicker(props: LinkPickerProps) {
  const { legend, hint, options, hasFailed, value, onValueChange, empty, manage, disabledReason, error } = props;
  const missing = options ? value.filter((id) => !options.some((option) => option.id === id)) : [];
  const shown: LinkOption[] = [...(options ?? []), ...missing.map((id) => ({ id, name: id, hint: "Not found in this project" }))];
  const toggle = (id: string, isOn: boolean) => onValueChange(isOn ? [...value, id] : value.filter((one) => one !== id));
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-2 flex w-full items-center justify-between gap-3">
        <span className="font-semibold text-12 text-ink">
          {legend}
          {value.length > 0 && <span className="ml-1.5 font-normal text-ink-faint">{value.length} chosen</span>}
        </span>
        <Link href={manage.href} className={cn("text-12 text-thread-text hover:underline", thumbRoom)}>
          {manage.label}
        </Link>
      </legend>
      {options === undefined && !hasFailed && <Skeleton className="h-8 w-full" />}
      {hasFailed && <p className="text-12 text-failed">The list could not be loaded. Reload the page to try again.</p>}
      {shown.length > 0 && (
        <ul className="flex max-h-56 flex-col gap-2 overflow-y-auto rounded-md border bg-raised p-3">
          {shown.map((option) => {
            const isOn = value.includes(option.id);
            return (
              <li key={option.id}>
                <Checkbox
                  label={option.name}
                  hint={option.hint}
                  checked={isOn}
                  // What is chosen can always be taken out.
                  disabled={disabledReason !== undefined && !isOn}
                  onCheckedChange={(checked) => toggle(option.id, checked)}
                />
              </li>
            );
          })}
        </ul>
      )}
      <FieldError>{error}</FieldError>
      <p className="text-12 text-ink-faint">{disabledReason ?? (options?.length === 0 ? empty : hint)}</p>
    </fieldset>
  );
}
