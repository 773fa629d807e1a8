import { useMutation } from "@tanstack/react-query";
import { Ear } from "lucide-react";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { CodeBlock } from "#components/ui/code-block.tsx";
import { Link } from "#components/ui/link.tsx";
import { Time } from "#components/ui/time.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { PanelDisclosure } from "#components/workflow-editor/fields/panel-disclosure.tsx";
import { useSession } from "#components/workflow-editor/session/session-context.tsx";
import type { WebhookDelivery, WebhookState } from "#server/features/webhooks/schema.ts";

/** Waits for the next call, shows it, and keeps it as what a run on the canvas is tried on. */
export function Listen({ state: { listens_until, heard }, isReadOnly }: { state: WebhookState; isReadOnly: boolean }) {
  const { workflowId } = useSession();
  const { trpc, cache } = useApi();
  const isOn = listens_until !== null;
  const listen = useMutation(
    trpc.webhooks.listen.mutationOptions({
      onError: (error) => toast.error(errorBodyOf(error).detail),
      onSettled: () => cache.invalidateQueries(trpc.webhooks.state.pathFilter()),
    }),
  );
  return (
    <div className="flex flex-col gap-2">
      <h3 className="font-semibold text-12 text-ink">Next call</h3>
      {!isReadOnly && (
        <Button
          size="sm"
          icon={<Ear />}
          className="self-start"
          isPending={listen.isPending}
          onClick={() => listen.mutate({ workflow_id: workflowId, is_on: !isOn })}
        >
          {isOn ? "Stop listening" : "Listen"}
        </Button>
      )}
      <p role="status" className="text-12 text-ink-soft">
        {isOn
          ? "Waiting for the next call. Have the sender send one; it starts its run as always."
          : heard
            ? null
            : "Shows the next call as it arrives, and keeps it as the input that Run starts with."}
      </p>
      {heard && (
        <PanelDisclosure title="Last call heard" isOpen>
          <div className="flex flex-col gap-2 border-t p-2.5">
            <Time value={heard.received_at} className="text-12 text-ink-soft" />
            <CodeBlock
              title="Headers"
              label="headers"
              wraps
              code={Object.entries(heard.headers)
                .map(([name, value]) => `${name}: ${value}`)
                .join("\n")}
            />
            <CodeBlock title="Body" label="body" wraps code={heard.body.slice(0, SHOWN_OF_BODY)} />
            <p className="text-12 text-ink-faint">
              {heard.input === null ? "The trigger could take nothing from it." : "Run offers it as the input."}
            </p>
          </div>
        </PanelDisclosure>
      )}
    </div>
  );
}

/** Characters of a body that are shown in the panel. */
const SHOWN_OF_BODY = 4000;

const isGood = (status: number) => status >= 200 && status < 300;

/** What arrived: when, what was answered, its run, and the way to run it again. */
export function WebhookDeliveries({ deliveries, isReadOnly }: { deliveries: readonly WebhookDelivery[]; isReadOnly: boolean }) {
  const { trpc, cache } = useApi();
  const replay = useMutation(
    trpc.webhooks.replay.mutationOptions({
      onSuccess: () => toast.success("Delivered again"),
      onError: (error) => toast.error(errorBodyOf(error).detail),
      onSettled: () => cache.invalidateQueries(trpc.webhooks.state.pathFilter()),
    }),
  );
  return (
    <div className="flex flex-col gap-1.5">
      <h3 className="font-semibold text-12 text-ink">Last deliveries</h3>
      {deliveries.length === 0 ? (
        <p className="text-12 text-ink-faint">
          None yet. Each call of the sender is listed here, and some of those whose proof is missing or wrong.
        </p>
      ) : (
        <ul aria-label="Last deliveries" className="flex flex-col divide-y divide-line rounded-md border">
          {deliveries.map((delivery) => (
            <li key={delivery.id} className="flex min-h-8 items-center gap-2 px-2 py-1 text-12">
              <Badge tone={isGood(delivery.status) ? "complete" : "failed"} className="tabular">
                {delivery.status}
              </Badge>
              <span className="flex min-w-0 flex-1 flex-col">
                <Time value={delivery.received_at} className="truncate text-ink-soft" />
                {delivery.error && <span className="break-words text-12 text-failed">{delivery.error}</span>}
              </span>
              {delivery.execution_id && (
                <Link href={`/runs/${delivery.execution_id}`} className="rounded-sm text-thread-text hover:underline">
                  Run
                </Link>
              )}
              {!isReadOnly && delivery.can_replay && (
                <Button
                  size="sm"
                  variant="ghost"
                  isPending={replay.isPending && replay.variables.delivery_id === delivery.id}
                  onClick={() => replay.mutate({ delivery_id: delivery.id })}
                >
                  Replay
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
