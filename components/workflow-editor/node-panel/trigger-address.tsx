"use client";

import { useQuery } from "@tanstack/react-query";
import { KeyRound, RotateCcwKey } from "lucide-react";
import { useState } from "react";
import { FormDialog } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useApi, useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { CodeBlock } from "#components/ui/code-block.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { CopyField } from "#components/ui/copy.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { Time } from "#components/ui/time.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { PanelDisclosure } from "#components/workflow-editor/fields/panel-disclosure.tsx";
import { usePublish } from "#components/workflow-editor/history/use-publish.ts";
import { Listen, WebhookDeliveries } from "#components/workflow-editor/node-panel/webhook-calls.tsx";
import { WEBHOOK_SENDERS, type WebhookSender } from "#components/workflow-editor/nodes/webhook-senders.ts";
import { useSession, useSessionState } from "#components/workflow-editor/session/session-context.tsx";
import { SetupWebhookInput, type WebhookSetup, type WebhookState } from "#server/features/webhooks/schema.ts";

/** How often deliveries are looked for while the panel is open. */
const REFRESH_MS = 4000;

/** A call as the sender would make it. The secret comes from the shell, so that it does not land in a file with the command. */
function callBySender(url: string, sender: WebhookSender): string | null {
  const proof = WEBHOOK_SENDERS[sender.auth].curlProof?.(sender);
  if (proof === undefined) return null;
  const lines = [`curl -X POST '${url}'`, "-H 'Content-Type: application/json'", proof, '--data-raw "$body"'];
  return `body='{"hello": "world"}'\n${lines.filter(Boolean).join(" \\\n  ")}`;
}

const addressHint = ({ auth }: WebhookSender): string => {
  const { secretParameter } = WEBHOOK_SENDERS[auth];
  return secretParameter ? `Enter it at the sender with ?${secretParameter}= and the secret` : "POST with a JSON body";
};

/** The webhook of the workflow: its address and secret, a call to try, the next call to listen for, and what arrived. */
export function WebhookPanel({ sender, isReadOnly }: { sender: WebhookSender; isReadOnly: boolean }) {
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
  const { webhook_url, deliveries, auth } = state.data;
  const call = callBySender(webhook_url, sender);
  return (
    <section aria-label="Webhook" className="flex flex-col gap-4 border-t pt-4">
      {sender.auth === "none" && (
        <Notice tone="failed">
          Anyone with the URL can start runs, with any text. Use this only for calls that may come from any client.
        </Notice>
      )}
      <CopyField label="Address" hint={addressHint(sender)} value={webhook_url} what="webhook address" isCompact />
      {savedTrigger !== "webhook" ? (
        <PublishFirst what="webhook" isReadOnly={isReadOnly} />
      ) : (
        <>
          {auth !== sender.auth && <p className="text-12 text-waiting">Publish the workflow: until then calls are checked as they were.</p>}
          <Secret state={state.data} sender={sender} call={call} isReadOnly={isReadOnly} />
          {state.data.has_secret && <Listen state={state.data} isReadOnly={isReadOnly} />}
        </>
      )}
      {call !== null && (
        <PanelDisclosure title="A signed call to try">
          <div className="border-t p-2.5">
            <CodeBlock label="signed call" code={call} />
          </div>
        </PanelDisclosure>
      )}
      <WebhookDeliveries deliveries={deliveries} isReadOnly={isReadOnly} />
    </section>
  );
}

interface SecretProps {
  state: WebhookState;
  sender: WebhookSender;
  call: string | null;
  isReadOnly: boolean;
}

function Secret({ state, sender, call, isReadOnly }: SecretProps) {
  const { workflowId } = useSession();
  const { trpc, client, cache } = useApi();
  const [isAsking, setIsAsking] = useState(false);
  const [isGiving, setIsGiving] = useState(false);
  const [made, setMade] = useState<WebhookSetup | null>(null);
  const isOpen = sender.auth === "none";
  const { secretFrom: theirs, secretParameter } = WEBHOOK_SENDERS[sender.auth];
  const make = async () => {
    const setup = await client.webhooks.setup.mutate({ workflow_id: workflowId });
    if (!isOpen) setMade(setup);
    await cache.invalidateQueries(trpc.webhooks.state.pathFilter());
  };
  const what = isOpen ? "Open the address" : state.has_secret ? "Rotate secret" : "Create secret";
  return (
    <div className="flex flex-col items-start gap-2">
      <span className="font-semibold text-12 text-ink">{isOpen ? "Access" : "Secret"}</span>
      <p className="text-12 text-ink-soft">
        {isOpen && state.has_secret ? (
          "The address is open."
        ) : state.has_secret ? (
          <>The sender proves each call with it. Set {state.rotated_at && <Time value={state.rotated_at} />}; it cannot be shown again.</>
        ) : (
          "There is none yet, so every call is refused with 401."
        )}
        {theirs && ` ${theirs}`}
      </p>
      {!isReadOnly && !(isOpen && state.has_secret) && (
        <span className="flex flex-wrap gap-2">
          {!theirs && (
            <Button
              size="sm"
              variant={state.has_secret ? "secondary" : "primary"}
              icon={state.has_secret ? <RotateCcwKey /> : <KeyRound />}
              onClick={() => (isOpen ? void make() : setIsAsking(true))}
            >
              {what}
            </Button>
          )}
          {!isOpen && (
            <Button size="sm" variant={theirs && !state.has_secret ? "primary" : "secondary"} onClick={() => setIsGiving(true)}>
              Enter the sender’s secret
            </Button>
          )}
        </span>
      )}
      {isGiving && <OwnSecretDialog onClose={() => setIsGiving(false)} />}
      {isAsking && (
        <ConfirmDialog
          onClose={() => setIsAsking(false)}
          title={state.has_secret ? "Rotate the webhook's secret?" : "Create the webhook's secret?"}
          confirmLabel={what}
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
          description="It is shown this once. Put it into the sender's settings, as the secret that it proves its calls with."
          isDismissable={false}
        >
          <CopyField label="Webhook secret" value={made.webhook_secret} what="webhook secret" />
          {secretParameter && (
            <CopyField
              label="Address with the secret"
              value={`${made.webhook_url}?${secretParameter}=${encodeURIComponent(made.webhook_secret)}`}
              what="webhook address"
            />
          )}
          {call !== null && <CodeBlock title="Try it" label="command" code={`WEBHOOK_SECRET='${made.webhook_secret}'\n${call}`} />}
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

/** Takes a secret that the sender has made. */
function OwnSecretDialog({ onClose }: { onClose: () => void }) {
  const { workflowId } = useSession();
  const { trpc, client, cache } = useApi();
  const form = useForm({
    schema: SetupWebhookInput.required(),
    initial: { workflow_id: workflowId, webhook_secret: "" },
    submit: async (value) => {
      await client.webhooks.setup.mutate(value);
      await cache.invalidateQueries(trpc.webhooks.state.pathFilter());
      toast.success("The secret is set");
      onClose();
    },
  });
  return (
    <FormDialog
      onClose={onClose}
      title="Enter the sender’s secret"
      description="It takes the place of the one before at once. It is stored encrypted and never shown again."
      form={form}
      submitLabel="Set secret"
    >
      <FormField form={form} name="webhook_secret" autoFocus autoComplete="off" isCode />
    </FormDialog>
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
      {savedTrigger !== "http" && <PublishFirst what="HTTP trigger" isReadOnly={isReadOnly} />}
      <CodeBlock title="Try it" label="command" code={callOf(url, methods[0] ?? "POST", project.slug)} />
    </section>
  );
}

/** In place of what only a published trigger has: why, and the way there. */
export function PublishFirst({ what, isReadOnly }: { what: "webhook" | "HTTP trigger"; isReadOnly: boolean }) {
  const publish = usePublish();
  const isPublishing = useSessionState((state) => state.publish.kind === "publishing");
  return (
    <Notice
      {...(!isReadOnly && {
        actions: (
          <Button size="sm" isPending={isPublishing} onClick={publish}>
            Publish now
          </Button>
        ),
      })}
    >
      Publish the workflow first: the published version has no {what} yet, so nothing listens at this address.
    </Notice>
  );
}
