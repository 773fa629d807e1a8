"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import Link from "next/link";
import { toast } from "sonner";
import { errorBodyOf, useTRPC } from "#components/trpc.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Time } from "#components/ui/time.tsx";
import type { WebhookDelivery } from "#server/features/webhooks/schema.ts";

const isGood = (status: number) => status >= 200 && status < 300;

/** What arrived: when, what was answered, its run, and the way to run it again. */
export function WebhookDeliveries({ deliveries, isReadOnly }: { deliveries: readonly WebhookDelivery[]; isReadOnly: boolean }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const replay = useMutation(
    trpc.webhooks.replay.mutationOptions({
      onSuccess: () => toast.success("Delivered again"),
      onError: (error) => toast.error(errorBodyOf(error).detail),
      onSettled: () => cache.invalidateQueries(trpc.webhooks.state.pathFilter()),
    }),
  );
  return (
    <div className="flex flex-col gap-1.5">
      <h3 className="font-medium text-12 text-ink">Last deliveries</h3>
      {deliveries.length === 0 ? (
        <p className="text-12 text-ink-faint">
          None yet. Each signed call is listed here, and some of those whose signature is missing or wrong.
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
                {delivery.error && <span className="break-words text-11 text-failed">{delivery.error}</span>}
              </span>
              {delivery.execution_id && (
                <Link href={`/runs/${delivery.execution_id}`} className="rounded-sm text-thread-text hover:underline">
                  Run
                </Link>
              )}
              {!isReadOnly && delivery.can_replay && (
                <IconButton
                  label="Replay"
                  size="sm"
                  icon={<RotateCw />}
                  isPending={replay.isPending && replay.variables.delivery_id === delivery.id}
                  onClick={() => replay.mutate({ delivery_id: delivery.id })}
                />
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
