"use client";

import { useQuery } from "@tanstack/react-query";
import { ArrowUpRight, CircleCheck, CircleDashed, TriangleAlert } from "lucide-react";
import { type ReactNode, useId } from "react";
import { KeyPicker, ModelPicker } from "#components/agents/model-choice.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { cn } from "#components/ui/cn.ts";
import { Field } from "#components/ui/field.tsx";
import { Link } from "#components/ui/link.tsx";
import { Select } from "#components/ui/select.tsx";
import { maskedValueLabel } from "#components/workflows/export-file.ts";
import { agentsToCreate, CREATE_AGENT, type ImportChoices, LEAVE_OPEN } from "#components/workflows/import-choices.ts";
import type { ImportCheck } from "#server/features/workflow-files/schema.ts";

const MARKS = {
  done: <CircleCheck aria-label="Settled" className="size-3.5 text-complete" />,
  open: <CircleDashed aria-label="Left open" className="size-3.5 text-waiting" />,
  missing: <TriangleAlert aria-label="Missing" className="size-3.5 text-waiting" />,
};

function Part({ title, hint, children }: { title: string; hint?: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="flex flex-col gap-2">
      <h3 id={id} className="font-semibold text-12 text-ink">
        {title}
      </h3>
      {hint && <p className="-mt-1.5 text-12 text-ink-faint">{hint}</p>}
      <ul className="flex flex-col divide-y divide-line rounded-md border">{children}</ul>
    </section>
  );
}

function Row({ mark, name, detail, children }: { mark: keyof typeof MARKS; name: string; detail?: ReactNode; children?: ReactNode }) {
  return (
    <li className="flex min-h-10 flex-wrap items-center gap-x-3 gap-y-1.5 px-3 py-1.5">
      <span className="flex min-w-40 flex-1 items-center gap-2.5">
        <span className="shrink-0">{MARKS[mark]}</span>
        <span className="min-w-0">
          <span className="block truncate text-14">{name}</span>
          {detail && <span className="block truncate text-12 text-ink-faint">{detail}</span>}
        </span>
      </span>
      {children}
    </li>
  );
}

export interface ImportCheckListProps {
  check: ImportCheck;
  choices: ImportChoices;
  onChange: (choices: ImportChoices) => void;
}

const selectStyle = "w-60 max-sm:w-full";

/** What a file needs that must be linked: agents, what they search, credentials. Shows nothing where nothing is needed. */
export function ImportCheckList({ check, choices, onChange }: ImportCheckListProps) {
  const trpc = useTRPC();
  const agents = useQuery(trpc.agents.list.queryOptions({ per_page: 200 }));
  const made = agentsToCreate(check, choices);
  // Without a key nothing can be made: adding the first one changes that.
  const makeable = check.agents.filter(({ key, is_defined }) => is_defined && choices.agents[key] === LEAVE_OPEN);
  const hasKeyField = made.length > 0 || (choices.keyId === "" && makeable.length > 0);
  const names = made.map(({ name }) => name);
  const wanted = (list: ImportCheck["mcp_servers"]) => list.filter((one) => one.agents.some((name) => names.includes(name)));
  const [servers, sources] = [wanted(check.mcp_servers), wanted(check.rag_sources)];
  const newSkills = check.skills.filter(({ exists }) => !exists);
  const chooseKey = (keyId: string) => {
    // The model that the project already asks with this key is the likeliest.
    const known = agents.data?.items.find((agent) => agent.llm_key_id === keyId)?.model ?? "";
    const isFirst = choices.keyId === "";
    const chosen = isFirst ? Object.fromEntries(makeable.map(({ key }) => [key, CREATE_AGENT])) : {};
    const isBare = (isFirst ? makeable : made).some(({ model }) => model === "");
    onChange({ ...choices, keyId, model: choices.model || (isBare ? known : ""), agents: { ...choices.agents, ...chosen } });
  };
  const models = [...new Set(made.map(({ model }) => model))].filter(Boolean);
  const optionsFor = ({ name, is_defined, existing }: ImportCheck["agents"][number]) => [
    ...(existing ? [{ value: existing.id, label: `Use “${existing.name}”`, description: "It is here under this name" }] : []),
    ...(is_defined
      ? [{ value: CREATE_AGENT, label: existing ? `Create “${name} 2”` : "Create it", description: "As the file describes it" }]
      : []),
    { value: LEAVE_OPEN, label: "Leave open", description: "A problem in the editor until it is linked" },
    ...(agents.data?.items ?? [])
      .filter((agent) => agent.id !== existing?.id)
      .map((agent) => ({ value: agent.id, label: `Use “${agent.name}”`, description: agent.model })),
  ];
  return (
    <>
      {check.agents.length > 0 && (
        <Part title="Agents">
          {check.agents.map((agent) => (
            <Row
              key={agent.key}
              mark={choices.agents[agent.key] === LEAVE_OPEN ? "open" : "done"}
              name={agent.name || "An agent that the file does not describe"}
              detail={[agent.model, `asked by ${agent.nodes.join(", ")}`].filter(Boolean).join(" · ")}
            >
              <Select
                aria-label={`Agent ${agent.name || agent.key}`}
                size="sm"
                className={selectStyle}
                value={choices.agents[agent.key] ?? LEAVE_OPEN}
                options={optionsFor(agent)}
                onValueChange={(value) => onChange({ ...choices, agents: { ...choices.agents, [agent.key]: value } })}
              />
            </Row>
          ))}
        </Part>
      )}
      {hasKeyField && (
        <div className={cn("grid gap-4", made.length > 0 && "sm:grid-cols-2")}>
          <Field label="LLM key" hint={made.some(({ needs_tools }) => needs_tools) ? "The model must know how to call tools." : undefined}>
            <KeyPicker value={choices.keyId} onValueChange={chooseKey} />
          </Field>
          {made.length > 0 && (
            <Field
              label="Model"
              isOptional={made.every(({ model }) => model !== "")}
              hint={
                models.length > 0
                  ? `Empty: as in the file, ${models.join(", ")}.`
                  : "For every agent that is created; change it later for each."
              }
            >
              <ModelPicker keyId={choices.keyId} value={choices.model} onValueChange={(model) => onChange({ ...choices, model })} />
            </Field>
          )}
        </div>
      )}
      <Linked
        title="MCP servers"
        needed={servers}
        value={choices.servers}
        kind="servers"
        onChange={(next) => onChange({ ...choices, servers: next })}
      />
      <Linked
        title="Knowledge"
        needed={sources}
        value={choices.sources}
        kind="sources"
        onChange={(next) => onChange({ ...choices, sources: next })}
      />
      {newSkills.length > 0 && made.length > 0 && (
        <p className="text-12 text-ink-soft">
          {newSkills.length === 1 ? "A skill comes along" : "Skills come along"}: {newSkills.map(({ name }) => name).join(", ")}.
        </p>
      )}
      {check.workflows.length > 0 && (
        <Part title="Workflows that it runs">
          {check.workflows.map(({ name, exists }) => (
            <Row key={name} mark="done" name={name} detail={exists ? "Is here under this name" : "Comes along"} />
          ))}
        </Part>
      )}
      {check.masked.length > 0 && (
        <Part
          title="Secrets that were taken out"
          hint="•••• stands where something looked like a secret. Write it anew in the editor, best as a credential."
        >
          {check.masked.map((one) => (
            <Row key={JSON.stringify(one)} mark="missing" name={maskedValueLabel(one)} detail={one.what} />
          ))}
        </Part>
      )}
      {check.credentials.length > 0 && (
        <Part title="Credentials">
          {check.credentials.map(({ name, exists }) => (
            <Row
              key={name}
              mark={exists ? "done" : "missing"}
              name={name}
              detail={exists ? "Is here" : "Is not here: runs wait until it is added"}
            >
              {!exists && (
                <Link
                  href="/credentials"
                  target="_blank"
                  className="inline-flex h-6 items-center gap-1 rounded-sm text-12 text-thread-text hover:underline"
                >
                  Add it in Credentials<span className="sr-only"> (opens a new tab)</span>
                  <ArrowUpRight aria-hidden className="size-3" />
                </Link>
              )}
            </Row>
          ))}
        </Part>
      )}
    </>
  );
}

interface LinkedProps {
  title: string;
  needed: ImportCheck["mcp_servers"];
  kind: "servers" | "sources";
  value: Readonly<Record<string, string>>;
  onChange: (value: Readonly<Record<string, string>>) => void;
}

/** Servers or sources of agents that are made: which of the project's stand for those of the file. */
function Linked({ title, needed, kind, value, onChange }: LinkedProps) {
  const trpc = useTRPC();
  const isNeeded = needed.length > 0;
  const servers = useQuery(trpc.mcp.list.queryOptions({ per_page: 200 }, { enabled: isNeeded && kind === "servers" }));
  const sources = useQuery(trpc.rags.list.queryOptions({ per_page: 200 }, { enabled: isNeeded && kind === "sources" }));
  const here: readonly { id: string; name: string }[] = (kind === "servers" ? servers.data?.items : sources.data?.items) ?? [];
  if (!isNeeded) return null;
  return (
    <Part title={title}>
      {needed.map(({ name, agents }) => (
        <Row key={name} mark={(value[name] ?? LEAVE_OPEN) === LEAVE_OPEN ? "open" : "done"} name={name} detail={`for ${agents.join(", ")}`}>
          <Select
            aria-label={`${title}: ${name}`}
            size="sm"
            className={selectStyle}
            value={value[name] ?? LEAVE_OPEN}
            options={[
              ...here.map((one) => ({ value: one.id, label: `Use “${one.name}”` })),
              { value: LEAVE_OPEN, label: "Leave open", description: "A problem in the editor until it is linked" },
            ]}
            onValueChange={(next) => onChange({ ...value, [name]: next })}
          />
        </Row>
      ))}
    </Part>
  );
}
