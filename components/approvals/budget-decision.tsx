"use client";

import { useQuery } from "@tanstack/react-query";
import { Check, X } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { formatCost } from "#components/format.ts";
import { FormFailure } from "#components/forms/form.tsx";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { Input } from "#components/ui/input.tsx";
import { Link } from "#components/ui/link.tsx";
import type { ReviewSummary } from "#server/features/reviews/schema.ts";
import type { ErrorBody } from "#server/shared/error-schema.ts";

const WHOSE = { project: "the project", agent: "the agent", llm_key: "the LLM key" } as const;

/** How it stands with the budgets that a run waits for, and how much more it may spend. Loaded where one is asked for. */
export function BudgetDecision({ review, onDecided }: { review: ReviewSummary; onDecided: (review: ReviewSummary) => void }) {
  const { id: review_id, execution_id, node_id, iteration } = review;
  const { trpc, client, cache } = useApi();
  const { data: current } = useQuery(trpc.reviews.get.queryOptions({ review_id }));
  const [amount, setAmount] = useState("");
  const [error, setError] = useState<string>();
  const [failure, setFailure] = useState<ErrorBody | null>(null);
  const [pending, setPending] = useState<string | null>(null);
  const hint = useId();
  const decide = async (decision: string) => {
    if (decision !== "approved" && decision !== "rejected") return;
    const further = Number(amount);
    if (decision === "approved" && !(further >= 0.01)) return setError("Name an amount of at least $0.01.");
    setError(undefined);
    setFailure(null);
    setPending(decision);
    try {
      await client.executions.approve.mutate({
        ...{ execution_id, node_id, iteration, decision },
        ...(decision === "approved" && { amount: further }),
      });
    } catch (cause) {
      setFailure(errorBodyOf(cause));
    }
    // Also when somebody was first: then it stands as they left it.
    const found = await client.reviews.get.query({ review_id }).catch(() => null);
    setPending(null);
    if (found && found.status !== "waiting") onDecided({ ...found, truncated: false });
    void cache.invalidateQueries(trpc.reviews.pathFilter());
    void cache.invalidateQueries(trpc.budgets.pathFilter());
  };
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { submitter } = event.nativeEvent as SubmitEvent;
    if (pending === null) void decide(submitter instanceof HTMLButtonElement ? submitter.value : "approved");
  };
  const budget = current?.budget;
  return (
    <form onSubmit={onSubmit} noValidate aria-label={`Decide: ${review.title || review.label}`} className="flex flex-col gap-3">
      {budget && (
        <ul className="flex flex-col gap-1 text-14">
          <li>
            This run has spent <strong className="font-semibold tabular">{formatCost(budget.run_spent)}</strong>.
          </li>
          {budget.budgets.map(({ scope, id, name, spent, monthly_limit }) => (
            <li key={`${scope} ${id}`} className="tabular">
              {WHOSE[scope][0]?.toUpperCase() + WHOSE[scope].slice(1)} {scope !== "project" && `“${name}” `}has{" "}
              {formatCost(Math.max(0, monthly_limit - spent))} left of {formatCost(monthly_limit)} this month.
            </li>
          ))}
          {budget.budgets.length === 0 && <li>The budget has room again: the run goes on in a moment.</li>}
        </ul>
      )}
      <Field label="Allow a further (US dollars)" error={error} hint="For this run alone" isRequired className="max-w-60">
        <Input
          type="number"
          inputMode="decimal"
          min={0.01}
          step="any"
          value={amount}
          placeholder="1.00"
          onChange={(event) => setAmount(event.target.value)}
        />
      </Field>
      <FormFailure failure={failure} />
      <div className="flex flex-wrap items-center gap-2">
        <Button
          type="submit"
          value="approved"
          variant="primary"
          icon={<Check />}
          isPending={pending === "approved"}
          disabled={pending !== null}
          className="max-sm:h-11 max-sm:flex-1"
        >
          Allow
        </Button>
        <Button
          type="submit"
          value="rejected"
          icon={<X />}
          aria-describedby={hint}
          isPending={pending === "rejected"}
          disabled={pending !== null}
          className="max-sm:h-11 max-sm:flex-1"
        >
          Do not allow
        </Button>
        <p id={hint} className="text-12 text-ink-soft max-sm:w-full">
          If you do not, the node fails.{" "}
          <Link href="/settings/budgets" className="underline underline-offset-2">
            Raise the budget
          </Link>{" "}
          to let all runs go on.
        </p>
      </div>
    </form>
  );
}
