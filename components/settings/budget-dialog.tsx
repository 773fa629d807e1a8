"use client";

import { useQuery } from "@tanstack/react-query";
import { FormDialog } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useTRPC } from "#components/trpc.tsx";
import { Field } from "#components/ui/field.tsx";
import { Select } from "#components/ui/select.tsx";
import { type Budget, BudgetInput } from "#server/features/budgets/schema.ts";

const Fields = BudgetInput.pick({ scope: true, id: true, monthly_limit: true, action: true }).refine(
  ({ scope, id }) => scope === "project" || id !== undefined,
  { path: ["id"], message: "Choose which." },
);
/** The most that a list answers. */
const LISTED = 200;

const SCOPES = [
  { value: "project", label: "The whole project" },
  { value: "agent", label: "One agent" },
  { value: "llm_key", label: "All calls with one LLM key" },
] as const satisfies readonly { value: Budget["scope"]; label: string }[];

const ACTIONS = [
  { value: "pause", label: "Runs wait", description: "An admin lets each spend more, or has it fail; they go on when the month begins" },
  { value: "stop", label: "Runs stop", description: "The node fails that would have made the call" },
] as const satisfies readonly { value: Budget["action"]; label: string; description: string }[];

interface BudgetDialogProps {
  /** The one that is changed; its scope stays. */
  budget?: Budget;
  /** What a new one is for. */
  initial?: { scope: Budget["scope"]; id: string | null };
  /** Of each thing there is one. */
  taken: readonly Budget[];
  onSave: (budget: BudgetInput) => Promise<void>;
  onClose: () => void;
}

/** Sets one budget. */
export function BudgetDialog({ budget, initial, taken, onSave, onClose }: BudgetDialogProps) {
  const form = useForm({
    schema: Fields,
    initial: budget
      ? { scope: budget.scope, id: budget.id, monthly_limit: budget.monthly_limit, action: budget.action }
      : // The limit is left to be typed.
        {
          scope: initial?.scope ?? "project",
          id: initial?.id ?? undefined,
          monthly_limit: undefined as unknown as number,
          action: "pause",
        },
    submit: onSave,
  });
  const { scope, id } = form.values;
  const isFree = (candidate: Pick<Budget, "scope" | "id">) =>
    !taken.some((other) => other.scope === candidate.scope && other.id === candidate.id);
  return (
    <FormDialog
      onClose={onClose}
      title={budget ? `Budget of “${budget.name}”` : "Add budget"}
      form={form}
      submitLabel={budget ? "Save budget" : "Add budget"}
    >
      {!budget && (
        <FormField form={form} name="scope" label="For" hint={null}>
          <Select
            value={scope}
            options={SCOPES.map((option) => ({ ...option, isDisabled: option.value === "project" && !isFree({ scope: "project" }) }))}
            onValueChange={(next) => {
              form.set("scope", next);
              form.set("id", undefined);
            }}
          />
        </FormField>
      )}
      {!budget && scope !== "project" && (
        <SubjectField scope={scope} value={id} error={form.errorOf("id")} isFree={isFree} onValueChange={(next) => form.set("id", next)} />
      )}
      <FormField form={form} name="monthly_limit" label="Monthly limit (US dollars)" hint={null} autoFocus className="max-w-60" />
      <FormField form={form} name="action" label="At the limit" hint={null}>
        <Select value={form.values.action} options={ACTIONS} onValueChange={(next) => form.set("action", next)} />
      </FormField>
      <p className="text-12 text-ink-faint">{ACTIONS.find(({ value }) => value === form.values.action)?.description}.</p>
    </FormDialog>
  );
}

interface SubjectFieldProps {
  scope: "agent" | "llm_key";
  value: string | undefined;
  error: string | undefined;
  isFree: (candidate: Pick<Budget, "scope" | "id">) => boolean;
  onValueChange: (id: string) => void;
}

function SubjectField({ scope, value, error, isFree, onValueChange }: SubjectFieldProps) {
  const trpc = useTRPC();
  const page = { page: 1, per_page: LISTED };
  const agents = useQuery(trpc.agents.list.queryOptions(page, { enabled: scope === "agent" }));
  const keys = useQuery(trpc.llmKeys.list.queryOptions(page, { enabled: scope === "llm_key" }));
  const { data } = scope === "agent" ? agents : keys;
  const rest = (data?.total ?? 0) - (data?.items.length ?? 0);
  return (
    <Field
      label={scope === "agent" ? "Agent" : "LLM key"}
      error={error}
      isRequired
      {...(rest > 0 && { hint: "The newest are listed. Of the others the agent’s own page leads here." })}
    >
      <Select
        value={value ?? ""}
        placeholder={data ? "Choose…" : "Loading…"}
        options={(data?.items ?? []).map(({ id, name }) => ({
          value: id,
          label: name,
          ...(!isFree({ scope, id }) && { isDisabled: true, description: "Has a budget" }),
        }))}
        onValueChange={onValueChange}
      />
    </Field>
  );
}
