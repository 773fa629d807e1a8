"use client";

import { useState } from "react";
import { joinAsNewForm, joinByPasswordForm, joinForm } from "#components/entry/entry-form.gen.ts";
import { CodeField, enter } from "#components/entry/sign-in.tsx";
import { signInWithPassword } from "#components/entry/sign-in-with-password.ts";
import { Form, FormSubmit } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { openProject } from "#components/shell/project-cookie.ts";
import { useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { Input } from "#components/ui/input.tsx";
import { Link } from "#components/ui/link.tsx";
import { Notice } from "#components/ui/notice.tsx";
import type { OpenedInvitation } from "#server/features/identity/schema.ts";

interface InvitationFormProps {
  token: string;
  invitation: OpenedInvitation;
}

/** Joins a project by the link of an invitation: with a new account, or with the one that the address has. */
export function InvitationForm({ token, invitation }: InvitationFormProps) {
  const { account, signed_in_as } = invitation;
  const [isReset, setIsReset] = useState(false);
  return (
    <div className="flex flex-col gap-4">
      {signed_in_as !== null && account !== "signed_in" && (
        <Notice>
          You are signed in here as {signed_in_as}. This invitation is for another address, and joining signs you in there instead.
        </Notice>
      )}
      {account === "none" && <NewPassword token={token} invitation={invitation} isNew />}
      {account === "signed_in" && <JoinAsMyself token={token} invitation={invitation} />}
      {(account === "verified" || (account === "unverified" && !isReset)) && <SignInAndJoin token={token} invitation={invitation} />}
      {account === "unverified" && !isReset && (
        <p className="border-t pt-4 text-14 text-ink-soft">
          Did somebody else make that account, or is the password lost?{" "}
          <button type="button" className="text-thread-text underline underline-offset-2" onClick={() => setIsReset(true)}>
            Set a new password
          </button>
        </p>
      )}
      {account === "unverified" && isReset && (
        <>
          <Notice tone="waiting" title="The old password, its sessions and its API keys end">
            {invitation.is_mailed
              ? "Everything else of the account stays."
              : "You will be in this project alone. Other projects of the account wait for whoever knows the old password: give it later in your profile."}
          </Notice>
          <NewPassword token={token} invitation={invitation} />
          <Button variant="ghost" onClick={() => setIsReset(false)}>
            Back
          </Button>
        </>
      )}
    </div>
  );
}

function NewPassword({ token, invitation: { email }, isNew = false }: InvitationFormProps & { isNew?: boolean }) {
  const client = useTRPCClient();
  const form = useForm({
    schema: joinAsNewForm,
    initial: { name: "", password: "" },
    submit: async (value) => {
      await client.identity.acceptInvitation.mutate({ token, ...value });
      await enter(email, value.password);
    },
  });
  return (
    <Form form={form}>
      <Address email={email} />
      <FormField form={form} name="name" label="Your name" hint={null} autoComplete="name" autoFocus />
      <FormField
        form={form}
        name="password"
        {...(!isNew && { label: "New password" })}
        hint="At least 8 characters"
        type="password"
        autoComplete="new-password"
      />
      <FormSubmit form={form} variant="primary" size="lg">
        Join project
      </FormSubmit>
    </Form>
  );
}

function SignInAndJoin({ token, invitation: { email, project_id } }: InvitationFormProps) {
  const client = useTRPCClient();
  const [problem, setProblem] = useState<string | null>(null);
  const [needsCode, setNeedsCode] = useState(false);
  const form = useForm({
    schema: joinByPasswordForm,
    initial: { password: "", code: "" },
    submit: async ({ password, code }) => {
      setProblem(null);
      const result = await signInWithPassword(email, password, code);
      if (result === "code") return setNeedsCode(true);
      if (result !== "in") return setProblem(result.problem);
      await client.identity.acceptInvitation.mutate({ token });
      openProject(project_id);
    },
  });
  return (
    <Form form={form}>
      <p className="text-14 text-ink-soft">This address has an account. Sign in to join with it.</p>
      <Address email={email} />
      <FormField form={form} name="password" hint={null} type="password" autoComplete="current-password" autoFocus />
      {needsCode && <CodeField value={form.values.code ?? ""} onChange={(code) => form.set("code", code)} />}
      {problem !== null && <Notice tone="failed">{problem}</Notice>}
      <FormSubmit form={form} variant="primary" size="lg">
        Sign in and join
      </FormSubmit>
      <p className="text-14 text-ink-soft">
        You sign in another way?{" "}
        <Link href={`/sign-in?next=${encodeURIComponent(`/invite/${token}`)}`} className="text-thread-text underline underline-offset-2">
          To the sign-in page
        </Link>
      </p>
    </Form>
  );
}

function JoinAsMyself({ token, invitation: { email, project_id } }: InvitationFormProps) {
  const client = useTRPCClient();
  const form = useForm({
    schema: joinForm,
    initial: {},
    submit: async () => {
      await client.identity.acceptInvitation.mutate({ token });
      openProject(project_id);
    },
  });
  return (
    <Form form={form}>
      <Address email={email} />
      <FormSubmit form={form} variant="primary" size="lg">
        Join project
      </FormSubmit>
    </Form>
  );
}

function Address({ email }: { email: string }) {
  return (
    <Field label="E-mail">
      <Input type="email" value={email} readOnly autoComplete="username" />
    </Field>
  );
}
