"use client";

import { useQuery } from "@tanstack/react-query";
import { Braces, ChevronRight, Plus, UserPlus } from "lucide-react";
import { HomeSection, IdleSummary, RunList } from "#components/home/run-list.tsx";
import { SetupChecklist, type SetupStep, StepLink } from "#components/home/setup-checklist.tsx";
import { TriggerLabel } from "#components/runs/trigger-label.tsx";
import { Page } from "#components/shell/page.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { Link } from "#components/ui/link.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { StatusIcon } from "#components/ui/status.tsx";
import { thumbRoom } from "#components/ui/styles.ts";
import { Time } from "#components/ui/time.tsx";
import { useNewWorkflow } from "#components/workflows/new-workflow.ts";
import type { ReviewSummary } from "#server/features/reviews/schema.ts";
import { executionStatuses, isFinal } from "#server/shared/execution-status.ts";

const WHILE_ACTIVE_MS = 2_000;
const WHILE_QUIET_MS = 10_000;

/** A paused run waits for people, perhaps for months; it is listed among the approvals. */
const ACTIVE = executionStatuses.filter((status) => !isFinal(status) && status !== "paused").join(",");

const moreLink = cn("inline-flex min-h-6 items-center text-12 text-thread-text hover:underline", thumbRoom);

export function HomePage() {
  const trpc = useTRPC();
  const { project, canEdit } = useStudio();
  const { create, isPending } = useNewWorkflow();
  const active = useQuery(
    trpc.executions.list.queryOptions(
      { status: ACTIVE, per_page: 8 },
      { refetchInterval: (query) => (query.state.data?.total ? WHILE_ACTIVE_MS : WHILE_QUIET_MS) },
    ),
  );
  const latest = useQuery(
    trpc.executions.list.queryOptions({ per_page: 1 }, { refetchInterval: active.data?.total ? WHILE_ACTIVE_MS : WHILE_QUIET_MS }),
  );
  const failed = useQuery(trpc.executions.list.queryOptions({ status: "failed", per_page: 5 }, { refetchInterval: WHILE_QUIET_MS }));
  const workflows = useQuery(trpc.workflows.list.queryOptions({ sort: "-updated", per_page: 6 }, { refetchInterval: WHILE_QUIET_MS }));
  const reviews = useQuery(
    trpc.reviews.list.queryOptions({ status: "waiting", sort: "due", per_page: 5 }, { refetchInterval: WHILE_QUIET_MS }),
  );
  const keys = useQuery(trpc.llmKeys.list.queryOptions({ per_page: 1 }, { refetchInterval: WHILE_QUIET_MS }));
  const agents = useQuery(trpc.agents.list.queryOptions({ per_page: 1 }, { refetchInterval: WHILE_QUIET_MS }));

  const failure = [active, latest, failed, workflows, keys, agents].find((query) => query.isError && query.data === undefined);
  if (failure?.error) {
    return (
      <Page>
        <PageHeader title={project.name} />
        <LoadFailure query={failure} />
      </Page>
    );
  }
  if (!active.data || !latest.data || !failed.data || !workflows.data || !keys.data || !agents.data)
    return <HomeSkeleton title={project.name} />;

  const recent = workflows.data.items;
  const newest = recent[0];
  const steps: SetupStep[] = [
    {
      title: "Add an LLM key",
      text: "Models are called on your own account.",
      isDone: keys.data.total > 0,
      action: <StepLink href="/keys">Add key</StepLink>,
    },
    {
      title: "Create an agent",
      text: "A model with a system prompt, tried out in the browser.",
      isDone: agents.data.total > 0,
      action: <StepLink href="/agents/new">New agent</StepLink>,
    },
    {
      title: "Create a workflow",
      text: (
        <>
          Put the agent on the canvas, after a trigger, or{" "}
          <Link href="/workflows/templates" className="text-thread-text underline underline-offset-2">
            start from a template
          </Link>
          : some need no key.
        </>
      ),
      isDone: workflows.data.total > 0,
      action: (
        <Button variant="primary" size="sm" isPending={isPending} onClick={create}>
          New workflow
        </Button>
      ),
    },
    {
      title: "Run it",
      text: "Watch every node work, then call it over REST.",
      isDone: latest.data.total > 0,
      action: newest && <StepLink href={`/workflows/${newest.id}`}>Open workflow</StepLink>,
    },
  ];
  const isSetUp = steps.every((step) => step.isDone);
  const newestRun = latest.data.items[0];

  return (
    <Page>
      <PageHeader
        title={project.name}
        actions={
          canEdit &&
          workflows.data.total > 0 && (
            <Button variant={isSetUp ? "primary" : "secondary"} icon={<Plus />} isPending={isPending} onClick={create}>
              New workflow
            </Button>
          )
        }
      />
      {!isSetUp && canEdit && <SetupChecklist steps={steps} />}
      <div className="grid items-start gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        {latest.data.total > 0 && (
          <div className="flex min-w-0 flex-col gap-6">
            <HomeSection
              title="Running now"
              count={active.data.total}
              action={
                <Link href="/runs" className={moreLink}>
                  All runs
                </Link>
              }
            >
              {active.data.total > 0 ? <RunList runs={active.data.items} /> : newestRun && <IdleSummary last={newestRun} />}
            </HomeSection>
            {reviews.data && reviews.data.total > 0 && (
              <HomeSection
                title="Waiting for approval"
                count={reviews.data.total}
                action={
                  <Link href="/approvals" className={moreLink}>
                    All approvals
                  </Link>
                }
              >
                <ReviewRows reviews={reviews.data.items} />
              </HomeSection>
            )}
            <HomeSection
              title="Failed lately"
              count={failed.data.total}
              action={
                failed.data.total > 0 && (
                  <Link href="/runs?status=failed" className={moreLink}>
                    All failed runs
                  </Link>
                )
              }
            >
              {failed.data.items.length > 0 ? (
                <RunList runs={failed.data.items} />
              ) : (
                <p className="p-3 text-ink-soft">No run has failed.</p>
              )}
            </HomeSection>
          </div>
        )}
        <div className="flex min-w-0 flex-col gap-6">
          {recent.length > 0 && (
            <HomeSection
              title="Recent workflows"
              action={
                <Link href="/workflows" className={moreLink}>
                  All workflows
                </Link>
              }
            >
              <ul className="divide-y">
                {recent.map((workflow) => (
                  <li key={workflow.id} className="relative flex min-h-11 items-center gap-3 px-3 py-1.5 transition-colors hover:bg-hover">
                    <Link href={`/workflows/${workflow.id}`} className="min-w-0 flex-1 truncate font-semibold after:absolute after:inset-0">
                      {workflow.name}
                    </Link>
                    <span className="flex text-12">
                      <TriggerLabel kind={workflow.trigger} />
                    </span>
                    <Time
                      value={workflow.updated_at}
                      className="w-20 shrink-0 whitespace-nowrap text-right text-12 text-ink-soft tabular"
                    />
                  </li>
                ))}
              </ul>
            </HomeSection>
          )}
          {isSetUp && <NextSteps />}
        </div>
      </div>
    </Page>
  );
}

function HomeSkeleton({ title }: { title: string }) {
  return (
    <Page>
      <PageHeader title={title} />
      <div role="status" className="grid gap-8 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <span className="sr-only">Loading</span>
        <Skeleton className="h-44 w-full rounded-lg" />
        <Skeleton className="h-44 w-full rounded-lg" />
      </div>
    </Page>
  );
}

const rowStyle = "flex min-h-11 items-center gap-2.5 px-3 transition-colors hover:bg-hover [&>svg]:size-3.5 [&>svg]:text-ink-faint";

/** Where to go once the first workflow has run. */
export function NextSteps() {
  const { canAdminister } = useStudio();
  return (
    <HomeSection title="Next">
      <ul className="divide-y">
        <li>
          <Link href="/docs/rest" className={rowStyle}>
            <Braces aria-hidden />
            Call a workflow over REST
            <ChevronRight aria-hidden className="ml-auto" />
          </Link>
        </li>
        {canAdminister && (
          <li>
            <Link href="/settings/members" className={rowStyle}>
              <UserPlus aria-hidden />
              Invite a colleague
              <ChevronRight aria-hidden className="ml-auto" />
            </Link>
          </li>
        )}
      </ul>
    </HomeSection>
  );
}

/** Reviews that wait, as rows: what is asked, of which workflow, since when. */
export function ReviewRows({ reviews }: { reviews: readonly ReviewSummary[] }) {
  return (
    <ul className="divide-y">
      {reviews.map((review) => (
        <li key={review.id} className="relative flex min-h-11 items-center gap-3 px-3 py-1.5 transition-colors hover:bg-hover">
          <StatusIcon status="waiting" />
          <div className="min-w-0 flex-1">
            <Link href={`/runs/${review.execution_id}`} className="block truncate font-semibold after:absolute after:inset-0">
              {review.title || review.label}
            </Link>
            <p className="truncate text-12 text-ink-soft">{review.workflow_name}</p>
          </div>
          <Time value={review.created_at} className="shrink-0 whitespace-nowrap text-12 text-ink-soft tabular" />
        </li>
      ))}
    </ul>
  );
}
