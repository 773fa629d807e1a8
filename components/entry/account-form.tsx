"use client";

import { signInWithPassword } from "#components/entry/sign-in-with-password.ts";
import { FormField } from "#components/forms/form-field.tsx";
import { FormFailure } from "#components/forms/form-footer.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { SignUpInput } from "#server/features/identity/schema.ts";

/** The first owner of an empty install, or one more account where sign-up is open. Signs in at once. */
export function AccountForm({ kind, code }: { kind: "setUp" | "signUp"; code?: string | undefined }) {
  const client = useTRPCClient();
  const form = useForm({
    schema: SignUpInput,
    initial: { name: "", email: "", password: "" },
    submit: async (value) => {
      if (kind === "setUp") await client.identity.setUp.mutate({ ...value, ...(code !== undefined && { code }) });
      else await client.identity.signUp.mutate(value);
      const problem = await signInWithPassword(value.email, value.password);
      location.assign(problem === null ? "/" : "/sign-in");
    },
  });
  return (
    <form onSubmit={form.onSubmit} noValidate className="flex flex-col gap-4">
      <FormField form={form} name="name" label="Your name" hint={null} autoComplete="name" autoFocus />
      <FormField form={form} name="email" hint={null} type="email" autoComplete="username" />
      <FormField form={form} name="password" hint="At least 8 characters" type="password" autoComplete="new-password" />
      <FormFailure failure={form.failure} />
      <Button type="submit" variant="primary" size="lg" isPending={form.isPending}>
        Create account
      </Button>
    </form>
  );
}
