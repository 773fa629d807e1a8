"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound, RotateCcwKey } from "lucide-react";
import { useState } from "react";
import { useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { CodeBlock } from "#components/ui/code-block.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { CopyField } from "#components/ui/copy-field.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { Time } from "#components/ui/time.tsx";
import { PanelFold } from "#components/workflow-editor/fields/panel-fold.tsx";
import { SaveFirst } from "#components/workflow-editor/node-panel/save-first.tsx";
import { WebhookDeliveries } from "#components/workflow-editor/node-panel/webhook-deliveries.tsx";
import { useSession, useSessionState } from "#components/workflow-editor/session/session-context.tsx";
import type { WebhookSetup, WebhookState } from "#server/features/webhooks/schema.ts";

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
  if (state.isError && !state.data) return <LoadFailure error={state.error} onRetry={() => void state.refetch()} />;
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
      <PanelFold title="A signed call to try">
        <div className="border-t p-2.5">
          <CodeBlock label="signed call" code={signedCall(webhook_url)} />
        </div>
      </PanelFold>
      <WebhookDeliveries deliveries={deliveries} isReadOnly={isReadOnly} />
    </section>
  );
}

function Secret({ state, isReadOnly }: { state: WebhookState; isReadOnly: boolean }) {
  const { workflowId } = useSession();
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
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
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setIsAsking}
        title={state.has_secret ? "Rotate the webhook's secret?" : "Create the webhook's secret?"}
        confirmLabel={state.has_secret ? "Rotate secret" : "Create secret"}
        tone={state.has_secret ? "danger" : "normal"}
        onConfirm={make}
      >
        {state.has_secret
          ? "The old secret stops working at once: calls fail with 401 until the sender has the new one."
          : "It is shown once. Have the sender's settings open, to paste it there."}
      </ConfirmDialog>
      <Dialog
        open={made !== null}
        onOpenChange={(isOpen) => !isOpen && setMade(null)}
        title="Copy the secret now"
        description="It is shown this once. Put it into the sender's settings as the key of the HMAC-SHA256 signature."
        isDismissable={false}
      >
        {made && (
          <>
            <CopyField label="Webhook secret" value={made.webhook_secret} what="webhook secret" />
            <CodeBlock title="Try it" label="command" code={`WEBHOOK_SECRET='${made.webhook_secret}'\n${signedCall(made.webhook_url)}`} />
            <DialogFooter>
              <Button variant="primary" onClick={() => setMade(null)}>
                Done
              </Button>
            </DialogFooter>
          </>
        )}
      </Dialog>
    </div>
  );
}
