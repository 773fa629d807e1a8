"use client";

import { getProviders, signIn } from "next-auth/react";
import { useEffect, useState } from "react";
import { z } from "zod";
import { Form, FormSubmit } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Link } from "#components/ui/link.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { SignUpInput } from "#server/features/identity/schema.ts";

// An old password may break today's rules for a new one, so only its presence is asked for.
const SignIn = SignUpInput.pick({ email: true, password: true }).extend({
  password: z.string().min(1, "Enter your password.").meta({ title: "Password" }),
});

interface OtherProvider {
  id: string;
  name: string;
}

export function SignInForm({ next, isSignupOpen }: { next: string; isSignupOpen: boolean }) {
  const [problem, setProblem] = useState<string | null>(null);
  const [others, setOthers] = useState<OtherProvider[]>([]);
  const form = useForm({
    schema: SignIn,
    initial: { email: "", password: "" },
    submit: async ({ email, password }) => {
      setProblem(null);
      const failed = await signInWithPassword(email, password);
      setProblem(failed);
      if (failed !== null) return;
      location.assign(next);
      // The button stays busy until the browser has left.
      await new Promise(() => {});
    },
  });
  useEffect(() => {
    getProviders().then(
      (providers) => setOthers(Object.values(providers ?? {}).filter(({ id }) => id !== "credentials")),
      () => setOthers([]),
    );
  }, []);
  return (
    <>
      <Form form={form}>
        <FormField form={form} name="email" hint={null} type="email" autoComplete="username" autoFocus />
        <FormField form={form} name="password" hint={null} type="password" autoComplete="current-password" />
        {problem !== null && <Notice tone="failed">{problem}</Notice>}
        <Button type="submit" variant="primary" size="lg" isPending={form.isPending}>
          Sign in
        </Button>
      </Form>
      {others.length > 0 && (
        <div className="mt-4 flex flex-col gap-2 border-t pt-4">
          {others.map(({ id, name }) => (
            <Button key={id} size="lg" onClick={() => void signIn(id, { callbackUrl: next })}>
              Sign in with {name}
            </Button>
          ))}
        </div>
      )}
      {isSignupOpen && (
        <p className="mt-4 text-13 text-ink-soft">
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

/**
 * Opens a session in this browser.
 * @returns what went wrong, as a sentence to show; null when it worked
 */
export async function signInWithPassword(email: string, password: string): Promise<string | null> {
  const result = await signIn("credentials", { email, password, redirect: false }).catch(() => undefined);
  if (result?.ok && !result.error) return null;
  if (!result) return "The service cannot be reached. Check your connection and try again.";
  // A code word is next-auth's own; a sentence is ours, from the server.
  return result.error?.includes(" ") ? result.error : "E-mail and password do not match. Check both and try again.";
}
