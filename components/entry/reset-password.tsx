"use client";

import { useState } from "react";
import { requestResetForm, resetForm } from "#components/entry/entry-form.gen.ts";
import { enter } from "#components/entry/sign-in.tsx";
import { Form, FormSubmit } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useTRPCClient } from "#components/trpc.tsx";
import { Checkbox } from "#components/ui/checkbox.tsx";
import { Field } from "#components/ui/field.tsx";
import { Input } from "#components/ui/input.tsx";
import { Notice } from "#components/ui/notice.tsx";

/** Asks for a link by mail. The answer is the same whether the address has an account or not. */
export function RequestPasswordResetForm() {
  const client = useTRPCClient();
  const [asked, setAsked] = useState<string | null>(null);
  const form = useForm({
    schema: requestResetForm,
    initial: { email: "" },
    submit: async ({ email }) => {
      await client.security.requestPasswordReset.mutate({ email });
      setAsked(email);
    },
  });
  if (asked !== null)
    return (
      <Notice tone="complete" title="Look into your mail">
        If {asked} has an account with a password here, a link is on its way. It works once, for an hour.
      </Notice>
    );
  return (
    <Form form={form}>
      <FormField form={form} name="email" hint={null} type="email" autoComplete="username" autoFocus />
      <FormSubmit form={form} variant="primary" size="lg">
        Send the link
      </FormSubmit>
    </Form>
  );
}

export function ResetPasswordForm({ token, email }: { token: string; email: string }) {
  const client = useTRPCClient();
  const form = useForm({
    schema: resetForm,
    initial: { password: "", end_api_keys: false },
    submit: async (value) => {
      await client.security.resetPassword.mutate({ token, ...value });
      await enter(email, value.password);
    },
  });
  return (
    <Form form={form}>
      <Field label="E-mail">
        <Input type="email" value={email} readOnly autoComplete="username" />
      </Field>
      <FormField
        form={form}
        name="password"
        label="New password"
        hint="At least 8 characters"
        type="password"
        autoComplete="new-password"
        autoFocus
      />
      <Checkbox
        label="Delete my API keys too"
        hint="Select this if someone else may know the old password. Requests with your API keys will be refused."
        checked={form.values.end_api_keys === true}
        onCheckedChange={(checked) => form.set("end_api_keys", checked)}
      />
      <FormSubmit form={form} variant="primary" size="lg">
        Set password
      </FormSubmit>
    </Form>
  );
}
