"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { KeyRound, RotateCcwKey, RotateCw } from "lucide-react";
import { useState } from "react";
import { toast } from "sonner";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useApi, useTRPC } from "#components/trpc.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { CodeBlock } from "#components/ui/code-block.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { CopyField } from "#components/ui/copy.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Link } from "#components/ui/link.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { Time } from "#components/ui/time.tsx";
import { PanelDisclosure } from "#components/workflow-editor/fields/panel-disclosure.tsx";
import { saveAndTell } from "#components/workflow-editor/history/save-button.tsx";
import { useSession, useSessionState } from "#components/workflow-editor/session/session-context.tsx";
import type { WebhookDelivery, WebhookSetup, WebhookState } from "#server/features/webhooks/schema.ts";

/** How often deliveries are looked for while the panel is open. */
const REFRESH_MS = 4000;

/** A call as the sender would make it. The secret comes from the shell, so that it does not land in a file with the command. */
const signedCall = (url: string) => `body='{"hello": "world"}'
curl -X POST '${url}' \\
  -H 'Content-Type: application/json' \\
  -H "X-SERVICE-Signature: sha256=$(printf %s "$body" | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" | sed 's/^.* //')" \\
  --data-raw "$body"`;

/** The webhook of the workflow: its address and secret, a signed call to try, and what arrived. */
export function WebhookPanel({ isReadOnly }: { isReadOnly: boolean }) {
  const { workflowId } = useSession();
  const savedTrigger = useSessionState((state) => state.savedTrigger);
  const trpc = useTRPC();
  const state = useQuery(trpc.webhooks.state.queryOptions({ workflow_id: workflowId }, { refetchInterval: REFRESH_MS }));
  if (state.isError && !state.data) return <LoadFailure query={state} />;
  if (!state.data)
    return (
      <div aria-busy className="flex flex-col gap-2">
        <Skeleton className="h-8 w-full" />
        <Skeleton className="h-7 w-32" />
      </div>
    );
  const { webhook_url, deliveries } = state.data;
  return (
    <section aria-label="Webhook" className="flex flex-col gap-4 border-t pt-4">
      <CopyField label="Address" hint="POST with a JSON body and a signature" value={webhook_url} what="webhook address" isCompact />
      {savedTrigger === "webhook" ? (
        <Secret state={state.data} isReadOnly={isReadOnly} />
      ) : (
        <SaveFirst what="webhook" isReadOnly={isReadOnly} />
      )}
      <PanelDisclosure title="A signed call to try">
        <div className="border-t p-2.5">
          <CodeBlock label="signed call" code={signedCall(webhook_url)} />
        </div>
      </PanelDisclosure>
      <WebhookDeliveries deliveries={deliveries} isReadOnly={isReadOnly} />
    </section>
  );
}

function Secret({ state, isReadOnly }: { state: WebhookState; isReadOnly: boolean }) {
  const { workflowId } = useSession();
  const { trpc, client, cache } = useApi();
  const [isAsking, setIsAsking] = useState(false);
  const [made, setMade] = useState<WebhookSetup | null>(null);
  const make = async () => {
    setMade(await client.webhooks.setup.mutate({ workflow_id: workflowId }));
    await cache.invalidateQueries(trpc.webhooks.state.pathFilter());
  };
  return (
    <div className="flex flex-col items-start gap-2">
      <span className="font-medium text-12 text-ink">Secret</span>
      <p className="text-12 text-ink-soft">
        {state.has_secret ? (
          <>The sender signs each call with it. Made {state.rotated_at && <Time value={state.rotated_at} />}; it cannot be shown again.</>
        ) : (
          "There is none yet, so every call is refused with 401."
        )}
      </p>
      {!isReadOnly && (
        <Button
          size="sm"
          variant={state.has_secret ? "secondary" : "primary"}
          icon={state.has_secret ? <RotateCcwKey /> : <KeyRound />}
          onClick={() => setIsAsking(true)}
        >
          {state.has_secret ? "Rotate secret" : "Create secret"}
        </Button>
      )}
      {isAsking && (
        <ConfirmDialog
          onClose={() => setIsAsking(false)}
          title={state.has_secret ? "Rotate the webhook's secret?" : "Create the webhook's secret?"}
          confirmLabel={state.has_secret ? "Rotate secret" : "Create secret"}
          tone={state.has_secret ? "danger" : "normal"}
          onConfirm={make}
        >
          {state.has_secret
            ? "The old secret stops working at once: calls fail with 401 until the sender has the new one."
            : "It is shown once. Have the sender's settings open, to paste it there."}
        </ConfirmDialog>
      )}
      {made && (
        <Dialog
          onClose={() => setMade(null)}
          title="Copy the secret now"
          description="It is shown this once. Put it into the sender's settings as the key of the HMAC-SHA256 signature."
          isDismissable={false}
        >
          <CopyField label="Webhook secret" value={made.webhook_secret} what="webhook secret" />
          <CodeBlock title="Try it" label="command" code={`WEBHOOK_SECRET='${made.webhook_secret}'\n${signedCall(made.webhook_url)}`} />
          <DialogFooter>
            <Button variant="primary" onClick={() => setMade(null)}>
              Done
            </Button>
          </DialogFooter>
        </Dialog>
      )}
    </div>
  );
}

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

/** A call of the HTTP trigger; a method without a body sends none. */
function callOf(url: string, method: string, slug: string): string {
  const head = `curl -X ${method} '${url}' \\\n  -H "Authorization: Bearer $TREADLE_API_KEY" \\\n  -H 'X-Project-Slug: ${slug}'`;
  if (method === "GET" || method === "DELETE") return head;
  return `${head} \\\n  -H 'Content-Type: application/json' \\\n  --data-raw '{"hello": "world"}'`;
}

/** The address of an HTTP trigger, and a call to try. */
export function HttpPanel({ methods, isReadOnly }: { methods: readonly string[]; isReadOnly: boolean }) {
  const { workflowId } = useSession();
  const { project } = useStudio();
  const savedTrigger = useSessionState((state) => state.savedTrigger);
  const url = `${location.origin}/api/v1/http/${workflowId}`;
  return (
    <section aria-label="HTTP trigger" className="flex flex-col gap-4 border-t pt-4">
      <CopyField label="Address" hint="Called with an API key of a project member" value={url} what="address" isCompact />
      {savedTrigger !== "http" && <SaveFirst what="HTTP trigger" isReadOnly={isReadOnly} />}
      <CodeBlock title="Try it" label="command" code={callOf(url, methods[0] ?? "POST", project.slug)} />
    </section>
  );
}

/** In place of what only a saved trigger has: why, and the way there. */
export function SaveFirst({ what, isReadOnly }: { what: "webhook" | "HTTP trigger"; isReadOnly: boolean }) {
  const session = useSession();
  const isSaving = useSessionState((state) => state.save.kind === "saving");
  return (
    <Notice
      {...(!isReadOnly && {
        actions: (
          <Button size="sm" isPending={isSaving} onClick={() => void saveAndTell(session)}>
            Save now
          </Button>
        ),
      })}
    >
      Save the workflow first: the saved version has no {what} yet, so nothing listens at this address.
    </Notice>
  );
}
