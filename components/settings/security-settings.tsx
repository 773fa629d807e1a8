"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { leaveForService, useSignInServices } from "#components/entry/sign-in-services.ts";
import { signInWithPassword } from "#components/entry/sign-in-with-password.ts";
import { formatDate, plural } from "#components/format.ts";
import { Form, FormSubmit } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import type { SecondFactorTask } from "#components/settings/second-factor-dialogs.tsx";
import { passwordForm } from "#components/settings/settings-form.gen.ts";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useApi, useTRPC } from "#components/trpc.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { Checkbox } from "#components/ui/checkbox.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { toast } from "#components/ui/toaster.tsx";

const SecondFactorDialog = loadedOnUse(() =>
  import("#components/settings/second-factor-dialogs.tsx").then(({ SecondFactorDialog }) => SecondFactorDialog),
);

/** How one signs in. */
export function SecuritySettings() {
  const trpc = useTRPC();
  const safety = useQuery(trpc.security.safety.queryOptions({}));
  return (
    <>
      <LoadFailure query={safety} />
      {safety.isPending && <Skeleton className="h-60" />}
      {safety.data && !safety.data.has_password && (
        <Notice>You sign in through another service, which has the password and asks for codes of its own.</Notice>
      )}
      {safety.data?.has_password && (
        <>
          <SecondFactor state={safety.data.second_factor} />
          <PasswordForm hasSecondFactor={safety.data.second_factor !== null} />
        </>
      )}
      <SignInServices />
    </>
  );
}

/** The services that the install offers, and those that already open this account. Nothing where there is neither. */
function SignInServices() {
  const trpc = useTRPC();
  const services = useSignInServices();
  const connected = useQuery(trpc.identity.identities.queryOptions({})).data?.items ?? [];
  if (services.length === 0 && connected.length === 0) return null;
  return (
    <SettingsSection
      title="Sign-in services"
      description="Sign in with a service that has verified your email address, without a password or code."
    >
      {connected.map(({ issuer, created_at }) => (
        <p key={issuer} className="text-14 text-ink-soft">
          Connected to {URL.parse(issuer)?.host ?? issuer} since {formatDate(created_at)}
        </p>
      ))}
      <div className="flex flex-wrap gap-2">
        {services.map(({ id, name }) => (
          <Button key={id} onClick={() => void leaveForService(id, "/settings/security")}>
            Connect {name}
          </Button>
        ))}
      </div>
    </SettingsSection>
  );
}

/** So few are left that it is time for new ones. */
const FEW = 3;

function SecondFactor({ state }: { state: { since: string; recovery_codes_left: number } | null }) {
  const [task, setTask] = useState<SecondFactorTask | null>(null);
  return (
    <SettingsSection
      title="Two-factor authentication"
      description="Asks for a code from your authenticator app when you sign in."
      action={
        state ? (
          <Badge tone="complete">on</Badge>
        ) : (
          <Button variant="primary" onClick={() => setTask("turnOn")}>
            Turn on
          </Button>
        )
      }
    >
      {state && (
        <>
          <p className="text-14 text-ink-soft">
            Since {formatDate(state.since)}. {plural(state.recovery_codes_left, "recovery code")} left.
          </p>
          {state.recovery_codes_left < FEW && <Notice tone="waiting">Make new recovery codes before the last one is used.</Notice>}
          <div className="flex flex-wrap gap-2">
            <Button onClick={() => setTask("renew")}>New recovery codes</Button>
            <Button onClick={() => setTask("turnOff")} className="text-failed">
              Turn off
            </Button>
          </div>
        </>
      )}
      {task && <SecondFactorDialog task={task} onClose={() => setTask(null)} />}
    </SettingsSection>
  );
}

const noPassword = { current_password: "", new_password: "", end_api_keys: false };

function PasswordForm({ hasSecondFactor }: { hasSecondFactor: boolean }) {
  const { trpc, client, cache } = useApi();
  const { user } = useStudio();
  const form = useForm({
    schema: passwordForm,
    initial: noPassword,
    submit: async (value) => {
      await client.identity.changePassword.mutate(value);
      // Every session opened under the old password has just ended, this one too.
      const result = await signInWithPassword(user.email, value.new_password);
      if (result !== "in") return location.assign("/sign-in");
      toast.success("Password changed", {
        description: value.end_api_keys
          ? "Other browsers were signed out, and your API keys are deleted."
          : "Other browsers were signed out.",
      });
      await cache.invalidateQueries(trpc.platformKeys.list.pathFilter());
      form.reset(noPassword);
    },
  });
  return (
    <SettingsSection
      title="Password"
      description={
        hasSecondFactor
          ? "A new password signs out every browser. Here you sign in with a code then."
          : "A new password signs out every other browser."
      }
    >
      <Form form={form}>
        <input type="email" name="username" autoComplete="username" value={user.email} readOnly hidden />
        <div className="grid gap-4 sm:grid-cols-2">
          <FormField form={form} name="current_password" hint={null} type="password" autoComplete="current-password" />
          <FormField
            form={form}
            name="new_password"
            label="New password"
            hint="At least 8 characters"
            type="password"
            autoComplete="new-password"
          />
        </div>
        <Checkbox
          label="Delete my API keys too"
          hint="Select this if someone else may know the password. Requests with your API keys will be refused."
          checked={form.values.end_api_keys === true}
          onCheckedChange={(checked) => form.set("end_api_keys", checked)}
        />
        <FormSubmit form={form} className="self-start">
          Change password
        </FormSubmit>
      </Form>
    </SettingsSection>
  );
}
