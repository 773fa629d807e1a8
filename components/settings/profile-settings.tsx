"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { Monitor, Moon, Sun } from "lucide-react";
import { useRouter } from "next/navigation";
import { RadioGroup } from "radix-ui";
import { signInWithPassword } from "#components/entry/sign-in.tsx";
import { Form, FormSubmit } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { UnsavedGuard } from "#components/forms/unsaved-guard.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { DeleteAccount } from "#components/settings/delete-account.tsx";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { type ThemeChoice, useTheme } from "#components/shell/use-theme.ts";
import { errorBodyOf, useApi, useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { Checkbox } from "#components/ui/checkbox.tsx";
import { Field } from "#components/ui/field.tsx";
import { Input } from "#components/ui/input.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { ChangePasswordInput, ResumeMembershipsInput, UpdateProfileInput } from "#server/features/identity/schema.ts";

export function ProfileSettings() {
  return (
    <>
      <NameForm />
      <MailChooser />
      <ThemeChooser />
      <PasswordForm />
      <EarlierProjects />
      <DeleteAccount />
    </>
  );
}

function NameForm() {
  const client = useTRPCClient();
  const router = useRouter();
  const { user } = useStudio();
  const form = useForm({
    schema: UpdateProfileInput.pick({ name: true }).required(),
    initial: { name: user.name },
    submit: async (value) => {
      await client.identity.updateProfile.mutate(value);
      toast.success("Name saved");
      router.refresh();
    },
  });
  return (
    <SettingsSection title="Profile">
      <Form form={form}>
        <UnsavedGuard isDirty={form.isDirty && !form.isPending} />
        <FormField form={form} name="name" hint={null} autoComplete="name" />
        <Field label="E-mail">
          <Input value={user.email} readOnly />
        </Field>
        <FormSubmit form={form} variant="primary" disabled={!form.isDirty} className="self-start">
          Save
        </FormSubmit>
      </Form>
    </SettingsSection>
  );
}

/** What is told by e-mail as well as in the app. */
function MailChooser() {
  const { trpc, client, cache } = useApi();
  const profile = useQuery(trpc.identity.profile.queryOptions({}));
  const change = useMutation({
    mutationFn: (notify_run_failed: boolean) => client.identity.updateProfile.mutate({ notify_run_failed }),
    onError: (error) => toast.error(errorBodyOf(error).detail),
    onSettled: () => cache.invalidateQueries(trpc.identity.profile.pathFilter()),
  });
  return (
    <SettingsSection title="E-mail" description="Reviews and failed runs are told in the app, under the bell.">
      <Checkbox
        label="E-mail me when a run fails"
        hint="Once an hour for each workflow at most."
        checked={change.isPending ? change.variables : (profile.data?.notify_run_failed ?? false)}
        disabled={!profile.data}
        onCheckedChange={(isOn) => change.mutate(isOn)}
      />
    </SettingsSection>
  );
}

const themes: readonly { value: ThemeChoice; label: string; icon: typeof Sun }[] = [
  { value: "system", label: "System", icon: Monitor },
  { value: "light", label: "Light", icon: Sun },
  { value: "dark", label: "Dark", icon: Moon },
];

function ThemeChooser() {
  const [theme, setTheme] = useTheme();
  return (
    <SettingsSection title="Theme" description="Kept in this browser.">
      <RadioGroup.Root value={theme} onValueChange={(value) => setTheme(value as ThemeChoice)} aria-label="Theme" className="flex gap-2">
        {themes.map(({ value, label, icon: Icon }) => (
          <RadioGroup.Item
            key={value}
            value={value}
            className="flex h-9 items-center gap-2 rounded-md border border-line-control bg-raised px-3 text-13 text-ink-soft hover:text-ink data-[state=checked]:border-thread data-[state=checked]:bg-thread-soft data-[state=checked]:font-medium data-[state=checked]:text-ink"
          >
            <Icon aria-hidden className="size-3.5" />
            {label}
          </RadioGroup.Item>
        ))}
      </RadioGroup.Root>
    </SettingsSection>
  );
}

const noPassword = { current_password: "", new_password: "", end_api_keys: false };

function PasswordForm() {
  const { trpc, client, cache } = useApi();
  const { user } = useStudio();
  const form = useForm({
    schema: ChangePasswordInput,
    initial: noPassword,
    submit: async (value) => {
      await client.identity.changePassword.mutate(value);
      // Every session opened under the old password has just ended, this one too.
      const problem = await signInWithPassword(user.email, value.new_password);
      if (problem !== null) return location.assign("/sign-in");
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
    <SettingsSection title="Password" description="A new password signs out every other browser.">
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
          hint="When somebody else may know the password: programs that send a key of yours are refused from now on."
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

/** For an account that got a new password through an invitation: its projects from before wait for the password that it had then. */
function EarlierProjects() {
  const trpc = useTRPC();
  const own = useQuery(trpc.identity.invitations.queryOptions({}, { staleTime: 60_000 }));
  return own.data?.has_earlier ? <EarlierProjectsForm /> : null;
}

function EarlierProjectsForm() {
  const client = useTRPCClient();
  const { user } = useStudio();
  const form = useForm({
    schema: ResumeMembershipsInput,
    initial: { password: "" },
    submit: async (value) => {
      const { projects } = await client.identity.resumeMemberships.mutate(value);
      toast.success(`You are in ${projects.join(", ")} again`);
      location.reload();
    },
  });
  return (
    <SettingsSection
      title="Projects from before"
      description="This account got its password through an invitation. The projects that it was in before that wait for the password it had then."
    >
      <Form form={form}>
        <input type="email" name="username" autoComplete="username" value={user.email} readOnly hidden />
        <FormField form={form} name="password" hint={null} type="password" autoComplete="off" />
        <FormSubmit form={form} className="self-start">
          Open them again
        </FormSubmit>
      </Form>
    </SettingsSection>
  );
}
