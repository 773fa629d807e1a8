"use client";

import { signInWithPassword } from "#components/entry/sign-in-with-password.ts";
import { FormFailure } from "#components/forms/form-failure.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { Input } from "#components/ui/input.tsx";
import { AcceptInvitationInput } from "#server/schemas/identity.ts";

const Acceptance = AcceptInvitationInput.omit({ token: true });

export function InvitationForm({ token, email }: { token: string; email: string }) {
  const client = useTRPCClient();
  const form = useForm({
    schema: Acceptance,
    initial: { name: "", password: "" },
    submit: async (value) => {
      await client.identity.acceptInvitation.mutate({ token, ...value });
      const problem = await signInWithPassword(email, value.password);
      location.assign(problem === null ? "/" : "/sign-in");
    },
  });
  return (
    <form onSubmit={form.onSubmit} noValidate className="flex flex-col gap-4">
      <Field label="E-mail">
        <Input type="email" value={email} readOnly autoComplete="username" />
      </Field>
      <FormField form={form} name="name" label="Your name" hint={null} autoComplete="name" autoFocus />
      <FormField form={form} name="password" hint="At least 8 characters" type="password" autoComplete="new-password" />
      <FormFailure failure={form.failure} />
      <Button type="submit" variant="primary" size="lg" isPending={form.isPending}>
        Join project
      </Button>
    </form>
  );
}
