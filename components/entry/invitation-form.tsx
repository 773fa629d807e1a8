"use client";

import { joinAsNewForm, joinForm } from "#components/entry/entry-form.gen.ts";
import { enter } from "#components/entry/sign-in.tsx";
import { Form, FormSubmit } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { openProject } from "#components/shell/project-cookie.ts";
import { signOutHere } from "#components/shell/sign-out-here.ts";
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

/** Accepts an invitation from its link: as the signed-in account, after signing in, or with a new account. */
export function InvitationForm(props: InvitationFormProps) {
  const { account, signed_in_as } = props.invitation;
  if (account === "signed_in") return <JoinAsMyself {...props} />;
  if (signed_in_as !== null) return <OtherAccount {...props} signedInAs={signed_in_as} />;
  return account === "signed_out" ? <SignInToAccept {...props} /> : <JoinAsNew {...props} />;
}

const pathOf = (token: string): string => `/invite/${encodeURIComponent(token)}`;

function JoinAsNew({ token, invitation: { email } }: InvitationFormProps) {
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
      <FormField form={form} name="password" hint="At least 8 characters" type="password" autoComplete="new-password" />
      <FormSubmit form={form} variant="primary" size="lg">
        Join project
      </FormSubmit>
    </Form>
  );
}

function SignInToAccept({ token, invitation: { email } }: InvitationFormProps) {
  return (
    <div className="flex flex-col gap-4">
      <p className="break-words text-14 text-ink-soft">{email} has an account. Sign in to it, and you return to this invitation.</p>
      <Button asChild variant="primary" size="lg" className="w-full">
        <Link href={`/sign-in?next=${encodeURIComponent(pathOf(token))}`}>Sign in to accept</Link>
      </Button>
      <p className="text-14 text-ink-soft">If you cannot sign in, ask an install admin for a link to set a new password.</p>
    </div>
  );
}

function OtherAccount({ token, invitation: { email }, signedInAs }: InvitationFormProps & { signedInAs: string }) {
  return (
    <Notice
      title={`You are signed in as ${signedInAs}`}
      actions={
        <Button size="sm" onClick={() => void signOutHere(pathOf(token))}>
          Sign out
        </Button>
      }
    >
      This invitation is for {email}. Sign out to accept it.
    </Notice>
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
