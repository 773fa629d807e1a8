"use client";

import { useState } from "react";
import { signInForm, signUpForm } from "#components/entry/entry-form.gen.ts";
import { leaveForService, useSignInServices } from "#components/entry/sign-in-services.ts";
import { signInWithPassword } from "#components/entry/sign-in-with-password.ts";
import { Form, FormSubmit } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { Input } from "#components/ui/input.tsx";
import { Link } from "#components/ui/link.tsx";
import { Notice } from "#components/ui/notice.tsx";

export function SignInForm({ next, isSignupOpen }: { next: string; isSignupOpen: boolean }) {
  const [problem, setProblem] = useState<string | null>(null);
  const [needsCode, setNeedsCode] = useState(false);
  const others = useSignInServices();
  const form = useForm({
    schema: signInForm,
    initial: { email: "", password: "", code: "" },
    submit: async ({ email, password, code }) => {
      setProblem(null);
      const result = await signInWithPassword(email, password, needsCode ? code : undefined);
      if (result === "code") return setNeedsCode(true);
      if (result !== "in") return setProblem(result.problem);
      location.assign(next);
      // The button stays busy until the browser has left.
      await new Promise(() => {});
    },
  });
  if (needsCode)
    return (
      <Form form={form}>
        <CodeField value={form.values.code ?? ""} onChange={(code) => form.set("code", code)} />
        {problem !== null && <Notice tone="failed">{problem}</Notice>}
        <Button type="submit" variant="primary" size="lg" isPending={form.isPending}>
          Sign in
        </Button>
        <Button
          variant="ghost"
          onClick={() => {
            form.set("code", "");
            setProblem(null);
            setNeedsCode(false);
          }}
        >
          Use another account
        </Button>
      </Form>
    );
  return (
    <>
      <Form form={form}>
        <FormField form={form} name="email" hint={null} type="email" autoComplete="username" autoFocus />
        <FormField
          form={form}
          name="password"
          hint={null}
          type="password"
          autoComplete="current-password"
          action={
            <Link href="/reset-password" className="text-12 text-thread-text underline underline-offset-2">
              Forgot it?
            </Link>
          }
        />
        {problem !== null && <Notice tone="failed">{problem}</Notice>}
        <Button type="submit" variant="primary" size="lg" isPending={form.isPending}>
          Sign in
        </Button>
      </Form>
      {others.length > 0 && (
        <div className="mt-4 flex flex-col gap-2 border-t pt-4">
          {others.map(({ id, name }) => (
            <Button key={id} size="lg" onClick={() => void leaveForService(id, next)}>
              Sign in with {name}
            </Button>
          ))}
        </div>
      )}
      {isSignupOpen && (
        <p className="mt-4 text-14 text-ink-soft">
          No account yet?{" "}
          <Link href="/sign-up" className="text-thread-text underline underline-offset-2">
            Sign up
          </Link>
        </p>
      )}
    </>
  );
}

/** The first owner of an empty install, or one more account where sign-up is open. Signs in at once. */
export function AccountForm({ kind, code }: { kind: "setUp" | "signUp"; code?: string | undefined }) {
  const client = useTRPCClient();
  const form = useForm({
    schema: signUpForm,
    initial: { name: "", email: "", password: "" },
    submit: async (value) => {
      if (kind === "setUp") await client.identity.setUp.mutate({ ...value, ...(code !== undefined && { code }) });
      else await client.identity.signUp.mutate(value);
      await enter(value.email, value.password);
    },
  });
  return (
    <Form form={form}>
      <FormField form={form} name="name" label="Your name" hint={null} autoComplete="name" autoFocus />
      <FormField form={form} name="email" hint={null} type="email" autoComplete="username" />
      <FormField form={form} name="password" hint="At least 8 characters" type="password" autoComplete="new-password" />
      <FormSubmit form={form} variant="primary" size="lg">
        Create account
      </FormSubmit>
    </Form>
  );
}

/** The second step of signing in. */
function CodeField({ value, onChange }: { value: string; onChange: (code: string) => void }) {
  return (
    <Field label="Code" hint="From your authenticator app. Without it: one of your recovery codes.">
      <Input
        value={value}
        onChange={(event) => onChange(event.target.value)}
        autoComplete="one-time-code"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus
        required
        className="font-mono tracking-wider"
      />
    </Field>
  );
}

/** Goes into the studio with a password that was just set, or to the sign-in page where more is asked for. */
export async function enter(email: string, password: string): Promise<void> {
  const result = await signInWithPassword(email, password);
  location.assign(result === "in" ? "/" : "/sign-in");
}
