"use client";

import { useQueryClient } from "@tanstack/react-query";
import { generate } from "lean-qr";
import { toSvgPath } from "lean-qr/extras/svg";
import { useMemo, useState } from "react";
import type { z } from "zod";
import { Form, FormDialog, FormFooter } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { CodeBlock } from "#components/ui/code-block.tsx";
import { CopyField } from "#components/ui/copy.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { toast } from "#components/ui/toaster.tsx";
import {
  BeginSecondFactorInput,
  type BegunSecondFactor,
  ConfirmSecondFactorInput,
  ProveSecondFactorInput,
} from "#server/features/security/schema.ts";

/** What the dialog is for. */
export type SecondFactorTask = "turnOn" | "turnOff" | "renew";

/** Everything about the second factor that asks for something: loaded when it is opened. */
export function SecondFactorDialog({ task, onClose }: { task: SecondFactorTask; onClose: () => void }) {
  if (task === "turnOn") return <TurnOn onClose={onClose} />;
  if (task === "renew") return <Renew onClose={onClose} />;
  return <TurnOff onClose={onClose} />;
}

function useRefresh(): () => Promise<void> {
  const trpc = useTRPC();
  const cache = useQueryClient();
  return () => cache.invalidateQueries(trpc.security.safety.pathFilter());
}

function TurnOn({ onClose }: { onClose: () => void }) {
  const [begun, setBegun] = useState<z.infer<typeof BegunSecondFactor> | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  if (codes) return <RecoveryCodes codes={codes} title="Two-factor authentication is on" onClose={onClose} />;
  if (begun) return <Scan begun={begun} onClose={onClose} onConfirmed={setCodes} />;
  return <Begin onClose={onClose} onBegun={setBegun} />;
}

function Begin({ onClose, onBegun }: { onClose: () => void; onBegun: (begun: z.infer<typeof BegunSecondFactor>) => void }) {
  const client = useTRPCClient();
  const form = useForm({
    schema: BeginSecondFactorInput,
    initial: { password: "" },
    submit: async (value) => onBegun(await client.security.beginSecondFactor.mutate(value)),
  });
  return (
    <FormDialog onClose={onClose} title="Turn on two-factor authentication" size="sm" form={form} submitLabel="Continue">
      <FormField form={form} name="password" hint={null} type="password" autoComplete="current-password" autoFocus />
    </FormDialog>
  );
}

function Scan({
  begun: { uri, secret },
  onClose,
  onConfirmed,
}: {
  begun: z.infer<typeof BegunSecondFactor>;
  onClose: () => void;
  onConfirmed: (codes: string[]) => void;
}) {
  const client = useTRPCClient();
  const refresh = useRefresh();
  const form = useForm({
    schema: ConfirmSecondFactorInput,
    initial: { code: "" },
    submit: async (value) => {
      const { recovery_codes } = await client.security.confirmSecondFactor.mutate(value);
      onConfirmed(recovery_codes);
      await refresh();
    },
  });
  return (
    <Dialog
      onClose={onClose}
      title="Scan it with your authenticator app"
      description="Such as Aegis, Google Authenticator, 1Password or Bitwarden. Then enter the code that it shows."
    >
      <Form form={form}>
        <QrCode text={uri} />
        <CopyField label="Without a camera" hint="Type this key into the app." value={secret} what="key" />
        <FormField form={form} name="code" label="Code of the app" hint={null} autoComplete="one-time-code" autoFocus isCode />
        <FormFooter form={form}>Turn on</FormFooter>
      </Form>
    </Dialog>
  );
}

/** Drawn here, so that the secret goes to nobody. Dark on white in both themes: cameras want that. */
function QrCode({ text }: { text: string }) {
  const { path, size } = useMemo(() => {
    const code = generate(text);
    return { path: toSvgPath(code), size: code.size };
  }, [text]);
  return (
    <svg
      role="img"
      aria-label="QR code for an authenticator app"
      viewBox={`-4 -4 ${size + 8} ${size + 8}`}
      className="w-52 self-center rounded-md border bg-white"
      shapeRendering="crispEdges"
    >
      <path d={path} fill="#000" />
    </svg>
  );
}

function RecoveryCodes({ codes, title, onClose }: { codes: readonly string[]; title: string; onClose: () => void }) {
  return (
    <Dialog
      onClose={onClose}
      title={title}
      description="These recovery codes stand in for the app, each once. They are shown this once: keep them where you keep your passwords."
      isDismissable={false}
    >
      <CodeBlock code={codes.join("\n")} label="recovery codes" />
      <DialogFooter>
        <Button variant="primary" onClick={onClose}>
          I have kept them
        </Button>
      </DialogFooter>
    </Dialog>
  );
}

const noProof = { password: "", code: "" };

function Renew({ onClose }: { onClose: () => void }) {
  const client = useTRPCClient();
  const refresh = useRefresh();
  const [codes, setCodes] = useState<string[] | null>(null);
  const form = useForm({
    schema: ProveSecondFactorInput,
    initial: noProof,
    submit: async (value) => {
      const { recovery_codes } = await client.security.renewRecoveryCodes.mutate(value);
      setCodes(recovery_codes);
      await refresh();
    },
  });
  if (codes) return <RecoveryCodes codes={codes} title="Your new recovery codes" onClose={onClose} />;
  return (
    <FormDialog
      onClose={onClose}
      title="Make new recovery codes?"
      description="The old ones are good for nothing then."
      size="sm"
      form={form}
      submitLabel="Make new codes"
    >
      <FormField form={form} name="password" hint={null} type="password" autoComplete="current-password" autoFocus />
      <FormField form={form} name="code" autoComplete="one-time-code" isCode />
    </FormDialog>
  );
}

function TurnOff({ onClose }: { onClose: () => void }) {
  const client = useTRPCClient();
  const refresh = useRefresh();
  const form = useForm({
    schema: ProveSecondFactorInput,
    initial: noProof,
    submit: async (value) => {
      await client.security.turnOffSecondFactor.mutate(value);
      await refresh();
      toast.success("Two-factor authentication turned off");
      onClose();
    },
  });
  return (
    <FormDialog
      onClose={onClose}
      title="Turn off two-factor authentication?"
      description="Signing in takes your password alone then."
      size="sm"
      form={form}
      submitLabel="Turn off"
    >
      <FormField form={form} name="password" hint={null} type="password" autoComplete="current-password" autoFocus />
      <FormField form={form} name="code" autoComplete="one-time-code" isCode />
    </FormDialog>
  );
}
